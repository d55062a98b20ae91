// One run, or two side by side, walked through with keys.
import { get } from "../common/api";
import { fill, h, whenQuiet } from "../common/dom";
import type { RunTold } from "./data";
import { RunView } from "./run";
import { stepAfterKey } from "./stepper";

const QUIET = 300; // milliseconds without a step, after which the address tells the step

/** Shows runs and returns a function that ends it. */
export async function walkThrough(place: HTMLElement, ids: string[], firstStep: number): Promise<() => void> {
  const told = await Promise.all(ids.map((id) => get<RunTold>(`/api/runs/${encodeURIComponent(id)}`)));
  const views = told.map((one) => {
    const view: RunView = new RunView(one, (step) => go(view, step));
    return view;
  });
  // keys lead through the longest run, so that they reach every step of the others too
  const leader = views.reduce((longest, one) => (one.last > longest.last ? one : longest));

  let isOver = false;
  const rememberStep = whenQuiet(QUIET, () => {
    if (isOver) return; // the address leads elsewhere by now
    const address = new URLSearchParams(location.hash.slice(1));
    address.set("step", String(leader.step));
    history.replaceState(null, "", `#${address}`);
  });
  const go = (moved: RunView, step: number): void => {
    moved.show(step);
    for (const other of views) if (other !== moved) other.show(other.stepAtTurn(moved.turn));
    rememberStep();
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = stepAfterKey(event, leader.step, leader.last);
    if (step === null) return;
    event.preventDefault();
    go(leader, step);
  };

  fill(
    place,
    h(
      "p",
      { class: "back muted" },
      h("a", { href: "#" }, "← All runs"),
      " Arrow keys step, Page keys by ten, Home and End to the ends.",
      views.length > 1 ? " A step in one run moves the other to the same move." : null,
    ),
    h("div", { class: views.length > 1 ? "compared" : "single" }, ...views.map((one) => one.element)),
  );
  leader.show(firstStep);
  for (const other of views) if (other !== leader) other.show(other.stepAtTurn(leader.turn));
  document.addEventListener("keydown", onKey);
  return () => {
    document.removeEventListener("keydown", onKey);
    isOver = true;
  };
}
