/* Long tables are sorted and filtered, and shown a page at a time. Without this script they are plain tables.

   A header cell gets a button: a press sorts upwards, one more downwards, one more restores the order of the page.
   Empty cells come last. A row is shown where each word of the filter is part of it.

   It is read before the page is. Until its tables are ready the page has the class `tables-to-come`, by which the style
   sheet does not lay out what lies beyond the first rows: it takes seconds on a phone. Nothing else hides a row. */
"use strict";

const FEWEST = 20; // rows of a table that gets all this
const PAGE = 100; // rows that are shown at a time: a thousand of them are slow to lay out
const TO_COME = "tables-to-come";
const ORDERS = ["none", "ascending", "descending"];

/* What a cell sorts by: a number where it begins with one, such as "−92.13" or "+0.28 ± 0.04", else its words. */
function keyOf(text) {
  const plain = text.trim().replace(/\u2212/g, "-").replace(/(\d),(?=\d{3})/g, "$1");
  const number = /^[+-]?\d+(\.\d+)?(?=$|\s*[±×%])/.exec(plain);
  return plain === "" ? null : number ? Number(number[0]) : plain.toLowerCase();
}

/* The order of two keys: numbers before words, and what is empty last whatever the order. */
function compare(a, b, descending) {
  if (a === null || b === null) return (a === null) - (b === null);
  const both = typeof a === typeof b;
  const order = !both ? (typeof a === "number" ? -1 : 1) : typeof a === "number" ? a - b : a.localeCompare(b);
  return descending ? -order : order;
}

/* The rows that have all words, in order; `order` is one of ORDERS. Rows have `text` and `keys`. */
function selected(rows, filter, column, order) {
  const words = filter.replace(/\u2212/g, "-").toLowerCase().split(/\s+/).filter(Boolean);
  const found = rows.filter((row) => words.every((word) => row.text.includes(word)));
  if (order === "none") return found;
  return found.sort((a, b) => compare(a.keys[column], b.keys[column], order === "descending"));
}

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function rowOf(line) {
  const cells = Array.from(line.cells, (cell) => cell.textContent);
  return { line, text: cells.join(" ").replace(/\u2212/g, "-").toLowerCase(), keys: cells.map(keyOf) };
}

/* Puts a button into each header cell, whose cell says by `aria-sort` how the column is sorted. */
function addButtons(cells, changed) {
  cells.forEach((cell, column) => {
    const button = element("button", { type: "button", className: "sort" }, ...cell.childNodes);
    cell.append(button);
    cell.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const order = ORDERS[(ORDERS.indexOf(cell.getAttribute("aria-sort")) + 1) % ORDERS.length];
      cells.forEach((other) => other.setAttribute("aria-sort", other === cell ? order : "none"));
      changed(column, order);
    });
  });
}

/* The field of the filter, how many rows are shown, and the buttons of pages, above a table. */
function addTools(table, state, show) {
  const field = element("input", { type: "search", autocomplete: "off", placeholder: "words, such as dna rws" });
  const status = element("span", {});
  status.setAttribute("role", "status");
  const button = (label, act) => {
    const made = element("button", { type: "button" }, label);
    made.addEventListener("click", () => (act(), show()));
    return made;
  };
  const pages = {
    back: button("Previous", () => (state.first = Math.max(0, state.first - PAGE))),
    on: button("Next", () => (state.first += PAGE)),
    all: button("Show all", () => Object.assign(state, { first: 0, size: Infinity })),
  };
  let waiting;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => (Object.assign(state, { filter: field.value, first: 0 }), show()), 120);
  });
  const label = element("label", {}, "Filter rows ", field);
  const tools = element("div", { className: "table-tools" }, label, status, ...Object.values(pages));
  (table.closest(".pst-scrollable-table-container") || table).before(tools);
  return { status, pages };
}

function enhance(table) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows, rowOf);
  const state = { filter: "", column: 0, order: "none", first: 0, size: PAGE };
  const tools = addTools(table, state, show);
  addButtons(Array.from(table.tHead.rows[0].cells), (column, order) => {
    Object.assign(state, { column, order, first: 0 });
    show();
  });
  function show() {
    const found = selected(rows, state.filter, state.column, state.order);
    const last = Math.min(found.length, state.first + state.size);
    body.replaceChildren(...found.slice(state.first, last).map((row) => row.line));
    const range = found.length ? `Rows ${state.first + 1} to ${last} of ${found.length.toLocaleString("en")}` : "No row";
    tools.status.textContent = range + (found.length < rows.length ? `, filtered from ${rows.length.toLocaleString("en")}` : "");
    tools.pages.back.disabled = state.first === 0;
    tools.pages.on.disabled = last === found.length;
    tools.pages.all.disabled = last - state.first === found.length;
  }
  show();
}

function enhanceAll() {
  try {
    for (const table of document.querySelectorAll("article table")) {
      if (table.tHead && table.tBodies.length === 1 && table.tBodies[0].rows.length >= FEWEST) enhance(table);
    }
  } finally {
    document.documentElement.classList.remove(TO_COME); // whatever went wrong: a plain table is whole
  }
}

if (typeof document !== "undefined") {
  document.documentElement.classList.add(TO_COME);
  document.addEventListener("DOMContentLoaded", enhanceAll);
} else {
  module.exports = { keyOf, compare, selected };
}
