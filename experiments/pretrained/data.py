"""What cards say of the data that models have learnt from."""

SOURCES = {
    "digits": (
        "Handwritten digits, 8 × 8 pixels, of E. Alpaydin and C. Kaynak: "
        '"Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998. '
        "They come with scikit-learn; a pixel is 1 from half of the full ink on."
    ),
    "ocr_letters": (
        "Handwritten letters, 16 × 8 pixels, collected by R. Kassel, as B. Taskar, C. Guestrin and D. Koller have used "
        'them: "Max-margin Markov networks", NIPS 2003. The split is that of H. Larochelle and I. Murray, "The neural '
        'autoregressive distribution estimator", AISTATS 2011.'
    ),
}
LICENCES = {
    "digits": "CC BY 4.0, as the repository states it.",
    "ocr_letters": "The authors state none. The release has no row of the data in it.",
}
