// Elements of the page. Text becomes text nodes and nothing else, so that no memory and no game can bring markup.

export type Child = Node | string | number | null | undefined | false;

type Listener = (event: Event) => void;

/** Attributes of an element; functions are listeners by the name of their event, `true` an attribute without value. */
export type Attributes = Record<string, string | number | boolean | null | undefined | Listener>;

const SVG = "http://www.w3.org/2000/svg";

/** An element of HTML. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return dressed(document.createElement(name), attributes, children);
}

/** An element of SVG. */
export function s<K extends keyof SVGElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return dressed(document.createElementNS(SVG, name) as SVGElementTagNameMap[K], attributes, children);
}

function dressed<T extends Element>(element: T, attributes: Attributes, children: Child[]): T {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...present(children));
  return element;
}

/** Puts other children into an element. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...present(children));
}

function present(children: Child[]): (Node | string)[] {
  const found: (Node | string)[] = [];
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    found.push(typeof child === "number" ? String(child) : child);
  }
  return found;
}

/** The element of the page with an id, which must be of this class. */
export function at<T extends Element>(id: string, kind: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return found;
}

/** A function that is called once things have been quiet for some milliseconds. */
export function whenQuiet<A extends unknown[]>(
  milliseconds: number,
  work: (...given: A) => void,
): (...given: A) => void {
  let timer = 0;
  return (...given) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => work(...given), milliseconds);
  };
}

/** `1 fact`, `2 facts`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** Tells of an error at the top of the page, or takes it away. */
export function tell(message: string | null): void {
  const place = at("notice", HTMLElement);
  if (message === null && place.hidden) return;
  place.hidden = message === null;
  place.textContent = message ?? "";
}
