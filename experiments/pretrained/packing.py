"""One archive of a folder: the same files give the same bytes, and so the same digest."""

import hashlib
import io
import zipfile

import tfdsmcmc as ds

_DATE = 1980, 1, 1, 0, 0, 0  # the first that a ZIP archive can state: when it was packed tells nothing


def packed(name, folder, output):
    """Writes OUTPUT/NAME-DIGEST.zip and its .sha256 beside it; what the package has to know of it, a dict.

    Args:
      name: of the release.
      folder: whose files are packed, in the order of their names.
      output: where archives of earlier digests stay.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    buffer, unpacked = io.BytesIO(), 0
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in paths:
            content = path.read_bytes()
            unpacked += len(content)
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), _DATE)
            entry.external_attr, entry.create_system = 0o100644 << 16, 3  # a file for all to read, as on Unix
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED, 9)
    content = buffer.getvalue()
    digest = hashlib.sha256(content).hexdigest()
    file = f"{name}-{digest[:8]}.zip"
    for path, what in (
        (output / file, content),
        (output / f"{file}.sha256", f"{digest}  {file}\n".encode()),  # as sha256sum --check reads it
    ):
        with ds.files.replacing(path) as temporary:
            temporary.write_bytes(what)
    return {"file": file, "sha256": digest, "size": len(content), "unpacked": unpacked}
