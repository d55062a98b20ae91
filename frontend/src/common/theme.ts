// The colours of the page, for what is drawn by hand; they follow the system between dark and light.

export interface Theme {
  ink: string;
  muted: string;
  faint: string;
  tie: string;
  surface: string;
  accent: string;
  entity: string;
  person: string;
  place: string;
  thing: string;
  time: string;
  thesis: string;
  episode: string;
  ended: string;
  good: string;
  relations: string[];
}


const RELATIONS = 8;

/** Which of the few colours of relations one has: the same on every page and in every memory, by its letters. */
export function relationNumber(relation: string): number {
  let sum = 5381;
  for (const letter of relation) sum = (sum * 33 + (letter.codePointAt(0) ?? 0)) % 2147483647;
  return sum % RELATIONS;
}

const dark = matchMedia("(prefers-color-scheme: dark)");

export function theme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: colour("ink"),
    muted: colour("muted"),
    faint: colour("faint"),
    tie: colour("tie"),
    surface: colour("surface"),
    accent: colour("accent"),
    entity: colour("entity"),
    person: colour("person"),
    place: colour("place"),
    thing: colour("thing"),
    time: colour("time"),
    thesis: colour("thesis"),
    episode: colour("episode"),
    ended: colour("ended"),
    good: colour("good"),
    relations: Array.from({ length: RELATIONS }, (_, number) => colour(`relation-${number + 1}`)),
  };
}

export function onTheme(changed: () => void): void {
  dark.addEventListener("change", changed);
}

/** Whether a person asked for little motion. */
export const isCalm = (): boolean => matchMedia("(prefers-reduced-motion: reduce)").matches;
