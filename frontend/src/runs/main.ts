// The page of runs: the list, a run step by step, two runs side by side, texts as they were read, or a sweep, as the address says.
import { get, said } from "../common/api";
import { at, fill, h, tell } from "../common/dom";
import type { Listing, SweepTold } from "./data";
import { drawList } from "./list";
import { readThrough } from "./reading";
import { drawSweep } from "./sweep";
import { walkThrough } from "./walk";

const place = at("place", HTMLElement);
let leave: (() => void) | null = null;
let shows = 0;

async function show(): Promise<void> {
  const number = ++shows;
  leave?.();
  leave = null;
  const address = new URLSearchParams(location.hash.slice(1));
  const sweep = address.get("sweep");
  const runs = (address.get("compare") ?? address.get("run") ?? "").split(",").filter(Boolean);
  // what was asked for earlier and arrives late must not replace what is shown now
  const draft = document.createElement("div");
  let left: (() => void) | null = null;
  try {
    const step = address.get("step");
    const read = address.get("read");
    if (runs.length) left = await walkThrough(draft, runs.slice(0, 2), step === null ? null : Number(step) || 0);
    else if (read !== null) left = await readThrough(draft, read, Number(step) || 0);
    else if (sweep !== null) drawSweep(draft, await get<SweepTold>(`/api/sweeps/${encodeURIComponent(sweep)}`));
    else drawList(draft, await get<Listing>("/api/runs"));
    if (number !== shows) {
      left?.();
      return;
    }
    leave = left;
    place.replaceChildren(...draft.childNodes);
    scrollTo(0, 0);
    tell(null);
  } catch (error) {
    if (number !== shows) return;
    fill(place, location.hash ? h("p", { class: "back" }, h("a", { href: "#" }, "← All runs")) : null);
    tell(said(error));
  }
  document.body.dataset["ready"] = "yes";
}

window.addEventListener("hashchange", () => void show());
void show();
