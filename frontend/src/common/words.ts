// Runs and plays in words.

const ENDS: Record<string, string> = {
  won: "won",
  lost: "lost",
  over: "the game ended",
  moves: "out of moves",
  agent: "the agent stopped",
  budget: "out of budget",
};

export const FAKE = "fake";

/** How a run ended; `undefined` and `null` mean that the reason is not known. */
export function shownEnd(won: boolean | undefined, endedBy: string | null | undefined): string {
  if (won) return "won";
  return endedBy ? (ENDS[endedBy] ?? endedBy) : "not won";
}

/** The agent, with its memory module if it has one. */
export const shownPlayer = (agent = "", module: string | null = ""): string =>
  [agent === "human" ? "a person" : agent, module].filter(Boolean).join(" + ");

/** The model; the fake one is marked, since it answers at random. */
export const shownModel = (model = ""): string => (model === FAKE ? "fake model: answers at random" : model);

/** A statement that was written as "subject, relation, object", as a sentence; any other text as it is. */
export function shownStatement(text: string): string {
  const parts = text.split(", ");
  return parts.length === 3 ? parts.join(" ") : text;
}

const REPLACED = "replaced by: ";

/** Why something ended; a statement that replaced it is written as a sentence. */
export const shownReason = (reason: string): string =>
  reason.startsWith(REPLACED) ? REPLACED + shownStatement(reason.slice(REPLACED.length)) : reason;

/** Seconds since 1970 as a local time. */
export function shownDate(seconds: number): string {
  const moment = new Date(seconds * 1000);
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  return `${day} ${two(moment.getHours())}:${two(moment.getMinutes())}`;
}
