// The ranked table. TanStack decides which rows stand where; the rows themselves are those of the page.
"use strict";
(() => {
  const { createTable, getCoreRowModel, getFilteredRowModel, getPaginationRowModel, getSortedRowModel } = window.TableCore;
  const ALL = 1e6;
  const data = JSON.parse(document.getElementById("board-data").textContent);
  const element = document.getElementById("board");
  const body = element.tBodies[0];
  const rows = [...body.rows];
  const heads = [...element.querySelectorAll("th[data-column]")];
  const status = document.getElementById("status");
  const nothing = document.getElementById("nothing");

  const exactly = (row, id, wanted) => row.original[id] === wanted;
  exactly.autoRemove = (wanted) => wanted === "";
  const words = (row, _, wanted) => wanted.every((word) => row.original.search.includes(word));
  words.autoRemove = (wanted) => wanted.length === 0;

  const columns = data.columns.map(({ id, text, down }) => ({
    id,
    accessorFn: (row) => row[id] ?? undefined,
    sortingFn: text ? "alphanumeric" : "basic",
    sortUndefined: "last",
    sortDescFirst: down,
  }));
  for (const id of data.filters) columns.push({ id, accessorFn: (row) => row[id], filterFn: exactly });
  columns.push({ id: "search", accessorFn: (row) => row.search, filterFn: words });

  const table = createTable({
    data: data.rows.map((row, index) => ({ ...row, index })),
    columns,
    state: {},
    onStateChange: () => {},
    renderFallbackValue: null,
    getCoreRowModel: getCoreRowModel(),
    getFilteredRowModel: getFilteredRowModel(),
    getSortedRowModel: getSortedRowModel(),
    getPaginationRowModel: getPaginationRowModel(),
    autoResetPageIndex: false,
  });
  const perPage = document.getElementById("per-page");
  const [previous, next] = [document.getElementById("previous"), document.getElementById("next")];
  const pagination = { pageIndex: 0, pageSize: Number(perPage.value) || ALL };
  let state = { ...table.initialState, sorting: [{ id: "rank", desc: false }], pagination };

  function set(change) {
    const changed = typeof change === "function" ? change(state) : change;
    const turned = changed.pagination !== state.pagination;
    state = turned ? changed : { ...changed, pagination: { ...changed.pagination, pageIndex: 0 } };
    table.setOptions((options) => ({ ...options, state, onStateChange: set }));
    show();
  }

  function show() {
    const found = table.getRowModel().rows;
    body.replaceChildren(...found.map((row) => rows[row.original.index]));
    nothing.hidden = found.length > 0;
    previous.disabled = !table.getCanPreviousPage();
    next.disabled = !table.getCanNextPage();
    for (const head of heads) head.setAttribute("aria-sort", direction(head) || "none");
    status.textContent = `${place(found.length)}${order()}.`;
  }

  function direction(head) {
    const [sorted] = state.sorting;
    return sorted.id === head.dataset.column && (sorted.desc ? "descending" : "ascending");
  }

  function order() {
    const head = heads.find(direction);
    return head ? `, sorted by ${head.dataset.label}, ${direction(head)}` : "";
  }

  // "17 of 300 entries fit", and which of them are shown where there are more than one page holds.
  function place(count) {
    const fitting = table.getFilteredRowModel().rows.length;
    const first = state.pagination.pageIndex * state.pagination.pageSize;
    const part = count < fitting ? `, ${first + 1} to ${first + count} shown` : "";
    return `${fitting} of ${rows.length} entries fit${part}`;
  }

  for (const head of heads) {
    const column = table.getColumn(head.dataset.column);
    head.querySelector("button").addEventListener("click", () => {
      const own = state.sorting[0].id === column.id;
      table.setSorting([{ id: column.id, desc: own ? !state.sorting[0].desc : column.columnDef.sortDescFirst }]);
    });
  }
  for (const id of data.filters) {
    const control = document.getElementById(`filter-${id}`);
    const filter = () => table.getColumn(id).setFilterValue(control.value);
    control.addEventListener("change", filter);
  }
  const search = document.getElementById("search");
  const find = () => table.getColumn("search").setFilterValue(search.value.toLowerCase().split(/\s+/).filter(Boolean));
  search.addEventListener("input", find);
  for (const box of document.querySelectorAll("input[data-group]")) {
    const group = () => element.classList.toggle(`show-${box.dataset.group}`, box.checked);
    box.addEventListener("change", group);
    group();
  }

  perPage.addEventListener("change", () => table.setPagination({ pageIndex: 0, pageSize: Number(perPage.value) || ALL }));
  previous.addEventListener("click", () => table.previousPage());
  next.addEventListener("click", () => table.nextPage());

  document.getElementById("controls").hidden = false;
  document.getElementById("pages").hidden = rows.length <= 50;
  set(state);
  for (const id of data.filters) table.getColumn(id).setFilterValue(document.getElementById(`filter-${id}`).value);
  find(); // a page that was left and opened again keeps what stood in its controls
})();
