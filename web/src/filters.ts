// Ranges that elites must lie in to be shown.

import type { Filter } from "./state.js";

export class FilterBar {
  private names: string[] = [];
  private called: (name: string) => string = (name) => name;
  private filters: Filter[] = [];
  private counter = document.createElement("span");

  constructor(
    private box: HTMLElement,
    private changed: (filters: Filter[]) => void,
  ) {
    this.counter.className = "muted";
    this.counter.id = "count";
  }

  show(names: string[], filters: Filter[], called: (name: string) => string): void {
    this.names = names;
    this.called = called;
    this.filters = filters.filter((f) => names.includes(f.column));
    this.render();
  }

  count(shown: number, all: number): void {
    this.counter.textContent = shown === all ? `all ${all.toLocaleString("en")} elites` : `${shown.toLocaleString("en")} of ${all.toLocaleString("en")} elites`;
  }

  private render(): void {
    const add = document.createElement("button");
    add.type = "button";
    add.id = "add-filter";
    add.textContent = "+ filter";
    add.onclick = () => {
      this.filters = [...this.filters, { column: "objective", low: null, high: null }];
      this.render();
      this.box.querySelector<HTMLElement>(".filter:last-of-type select")?.focus();
    };
    add.disabled = this.filters.length >= 8;
    this.box.replaceChildren(...this.filters.map((f, i) => this.row(f, i)), add, this.counter);
  }

  private row(filter: Filter, index: number): HTMLElement {
    const row = document.createElement("span");
    row.className = "filter";
    const column = document.createElement("select");
    column.ariaLabel = "Filter by";
    column.append(...this.names.map((name) => new Option(this.called(name), name)));
    column.value = filter.column;
    const bound = (which: "low" | "high") => {
      const field = document.createElement("input");
      field.type = "number";
      field.step = "any";
      field.placeholder = which === "low" ? "from" : "to";
      field.ariaLabel = `${this.called(filter.column)} ${field.placeholder}`;
      field.value = filter[which] === null ? "" : String(filter[which]);
      field.oninput = () => this.update(index, { [which]: field.value === "" ? null : Number(field.value) });
      return field;
    };
    column.onchange = () => this.update(index, { column: column.value });
    const remove = document.createElement("button");
    remove.type = "button";
    remove.textContent = "✕";
    remove.ariaLabel = `Remove the filter on ${this.called(filter.column)}`;
    remove.onclick = () => {
      this.filters = this.filters.filter((_, i) => i !== index);
      this.render();
      this.changed(this.filters);
    };
    row.append(column, " ", bound("low"), " – ", bound("high"), " ", remove);
    return row;
  }

  private update(index: number, change: Partial<Filter>): void {
    this.filters = this.filters.map((f, i) => (i === index ? { ...f, ...change } : f));
    this.changed(this.filters);
  }
}
