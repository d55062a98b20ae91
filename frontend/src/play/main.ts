// The page of plays: choose a game and who plays it, and watch, or play oneself.
import { get, said } from "../common/api";
import { at, fill, tell } from "../common/dom";
import { drawChoices, type Choices, type PlayTold } from "./choices";
import { Watch } from "./watch";

const place = at("place", HTMLElement);
let watch: Watch | null = null;

async function show(): Promise<void> {
  watch?.close();
  watch = null;
  const id = new URLSearchParams(location.hash.slice(1)).get("play");
  try {
    if (id === null) {
      const [choices, { plays }] = await Promise.all([
        get<Choices>("/api/choices"),
        get<{ plays: PlayTold[] }>("/api/plays"),
      ]);
      drawChoices(place, choices, plays);
    } else {
      watch = new Watch(await get<PlayTold & { run: string }>(`/api/plays/${encodeURIComponent(id)}`));
      fill(place, watch.element);
      watch.open();
    }
    tell(null);
  } catch (error) {
    if (id !== null && (await leadToRun(id))) return;
    if (id !== null) location.hash = "";
    tell(said(error));
  }
  document.body.dataset["ready"] = "yes";
}

/** A play of a server that ended is kept as a run with the same id: leads there, if there is one. */
async function leadToRun(id: string): Promise<boolean> {
  try {
    await get(`/api/runs/${encodeURIComponent(id)}`);
  } catch {
    return false;
  }
  location.replace(`/runs#run=${encodeURIComponent(id)}&from=play`);
  return true;
}

window.addEventListener("hashchange", () => void show());
window.addEventListener("pagehide", () => watch?.close());
void show();
