// World time: a slider over the moments at which something on the page began or ended, and now at its end.
import { fill, s } from "../common/dom";
import { shownTime } from "../common/times";
import type { Store } from "./data";

const WIDTH = 600;
const HEIGHT = 28;
const BARS = 120;
const STEP = 350; // milliseconds a moment while it plays

export class Slider {
  private moments: number[] = [];
  private timer = 0;

  constructor(
    private readonly parts: {
      range: HTMLInputElement;
      shown: HTMLOutputElement;
      first: HTMLElement;
      play: HTMLButtonElement;
      now: HTMLButtonElement;
      changes: SVGSVGElement;
    },
    private readonly store: Store,
    private readonly onMoment: (moment: number | null) => void,
  ) {
    parts.range.addEventListener("input", () => {
      this.stop();
      this.tell();
    });
    parts.now.addEventListener("click", () => this.set(null));
    parts.play.addEventListener("click", () => (this.timer ? this.stop() : this.play()));
    parts.changes.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    parts.changes.setAttribute("preserveAspectRatio", "none");
  }

  /** The moment that is shown; `null` is now. */
  get moment(): number | null {
    return this.moments[this.parts.range.valueAsNumber] ?? null;
  }

  /** Takes in what the store has got, and stays at its moment. */
  update(): void {
    const moment = this.moment;
    this.moments = this.store.moments();
    const { range, first } = this.parts;
    range.max = String(this.moments.length);
    range.disabled = this.moments.length === 0;
    this.parts.play.disabled = this.moments.length < 2;
    first.textContent = this.moments[0] === undefined ? "" : shownTime(this.moments[0]);
    this.drawChanges();
    this.show(moment);
  }

  /** Goes to a moment, or to now. */
  set(moment: number | null): void {
    this.stop();
    this.show(moment);
    this.onMoment(this.moment);
  }

  private show(moment: number | null): void {
    const later = moment === null ? -1 : this.moments.findIndex((other) => other > moment);
    const place =
      later === -1 ? (moment === null ? this.moments.length : this.moments.length - 1) : Math.max(later - 1, 0);
    this.parts.range.value = String(place);
    this.label();
  }

  private label(): void {
    const moment = this.moment;
    const text = moment === null ? "now" : shownTime(moment);
    this.parts.shown.value = text;
    this.parts.range.setAttribute("aria-valuetext", text);
    this.parts.now.setAttribute("aria-pressed", String(moment === null));
  }

  private tell(): void {
    this.label();
    this.onMoment(this.moment);
  }

  private play(): void {
    const { range, play } = this.parts;
    if (range.valueAsNumber >= this.moments.length) range.value = "0";
    play.textContent = "Pause";
    const step = Math.max(1, Math.round(this.moments.length / BARS));
    this.tell();
    this.timer = window.setInterval(() => {
      range.value = String(range.valueAsNumber + step);
      this.tell();
      if (range.valueAsNumber >= this.moments.length) this.stop();
    }, STEP);
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = 0;
    this.parts.play.textContent = "Play";
  }

  /** Bars above the slider: how much began, and below the line, how much ended. */
  private drawChanges(): void {
    const total = this.moments.length + 1;
    const bars = Math.min(total, BARS);
    const begun = new Array<number>(bars).fill(0);
    const ended = new Array<number>(bars).fill(0);
    const places = new Map(this.moments.map((moment, number) => [moment, Math.floor((number * bars) / total)]));
    for (const edge of this.store.edges.values()) {
      for (const [from, to] of edge.held) {
        begun[places.get(from) ?? 0]! += 1;
        if (to !== null) ended[places.get(to) ?? 0]! += 1;
      }
    }
    const most = Math.sqrt(Math.max(1, ...begun, ...ended));
    const width = WIDTH / bars;
    const middle = HEIGHT * 0.62;
    const rects = begun.flatMap((number, place) => {
      const up = (Math.sqrt(number) / most) * middle;
      const down = (Math.sqrt(ended[place] ?? 0) / most) * (HEIGHT - middle);
      const x = place * width + width * 0.12;
      return [
        number ? s("rect", { class: "begun", x, y: middle - up, width: width * 0.76, height: up }) : null,
        ended[place] ? s("rect", { class: "ended", x, y: middle + 1, width: width * 0.76, height: down }) : null,
      ];
    });
    fill(this.parts.changes, ...rects);
  }
}
