// World time on a true axis: what began and what ended, a range to look at, and the moment that is shown.
import { axisBottom, type AxisScale } from "d3-axis";
import { brushX, type D3BrushEvent } from "d3-brush";
import { scaleLinear, scaleUtc } from "d3-scale";
import { select } from "d3-selection";

import { fill, s } from "../common/dom";
import { isDate, shownTime } from "../common/times";
import type { Store } from "./data";

const HEIGHT = 64;
const BARS = 26; // pixels for the bars
const SIDE = 10; // pixels at both ends
const BAR = 5; // pixels of a bar
const EDGE = 0.03; // of the time: so much comes before the first and after the last
const STEP = 350; // milliseconds a moment while it plays
const STEPS = 120; // at most, in one play
const FINE = 10_000; // parts of the slider

export interface TimeParts {
  picture: SVGSVGElement;
  range: HTMLInputElement;
  shown: HTMLInputElement;
  about: HTMLElement;
  play: HTMLButtonElement;
  now: HTMLButtonElement;
  all: HTMLButtonElement;
}

export interface TimeShown {
  /** `null` is now: what has not ended. */
  moment: number | null;
  range: [number, number] | null;
}

/** The slider stands at its right end for now; its arrow keys go from change to change. */
export class TimeAxis {
  private moments: number[] = [];
  private timer = 0;
  private moment: number | null = null;
  private span: [number, number] | null = null;
  private domain: [number, number] = [0, 1];
  private width = 600;

  constructor(
    private readonly parts: TimeParts,
    private readonly store: Store,
    private readonly onChange: (shown: TimeShown, isFinal: boolean) => void,
  ) {
    const { range, shown } = parts;
    range.max = String(FINE);
    range.addEventListener("input", () => {
      this.stop();
      this.moment = this.momentAt(range.valueAsNumber);
      this.tell(false);
    });
    range.addEventListener("change", () => this.tell(true));
    range.addEventListener("keydown", (event) => this.key(event));
    shown.addEventListener("change", () => this.type());
    parts.now.addEventListener("click", () => this.go(null));
    parts.all.addEventListener("click", () => {
      this.span = null;
      this.tell(true);
    });
    parts.play.addEventListener("click", () => (this.timer ? this.stop() : this.play()));
    new ResizeObserver(() => this.draw()).observe(parts.picture);
  }

  get shown(): TimeShown {
    return { moment: this.moment, range: this.span };
  }

  /** Takes in what the store has got. */
  update(): void {
    this.moments = this.store.moments();
    const [first, last] = [this.moments[0] ?? 0, this.moments.at(-1) ?? 1];
    const edge = (last - first || 1) * EDGE;
    this.domain = [first - edge, last + edge];
    this.parts.range.disabled = this.moments.length === 0;
    this.parts.play.disabled = this.moments.length < 2;
    this.label();
    this.draw();
  }

  /** Shows a moment and a range, without telling anybody. */
  show({ moment, range }: TimeShown): void {
    this.stop();
    if (moment === this.moment && String(range) === String(this.span)) return; // to draw the same again takes a frame
    this.moment = moment;
    this.span = range;
    this.label();
    this.draw();
  }

  private go(moment: number | null): void {
    this.stop();
    this.moment = moment;
    this.tell(true);
  }

  private tell(isFinal: boolean): void {
    this.label();
    this.draw();
    this.onChange(this.shown, isFinal);
  }

  /** A part of the slider as a moment: the change nearest to it if it is near. */
  private momentAt(part: number): number | null {
    if (part >= FINE) return null;
    const [from, to] = this.domain;
    const time = from + ((to - from) * part) / FINE;
    const near = (to - from) * 0.004;
    return this.moments.find((moment) => Math.abs(moment - time) < near) ?? time;
  }

  private partOf(moment: number | null): number {
    if (moment === null) return FINE;
    const [from, to] = this.domain;
    return Math.round(Math.min(Math.max((moment - from) / (to - from), 0), 1 - 1 / FINE) * FINE);
  }

  private key(event: KeyboardEvent): void {
    const moment = this.moment ?? Infinity;
    const at = ((): number | null | undefined => {
      switch (event.key) {
        case "ArrowRight":
        case "ArrowUp":
          return this.moments.find((other) => other > moment) ?? null;
        case "ArrowLeft":
        case "ArrowDown":
          return this.moments.findLast((other) => other < moment) ?? this.domain[0];
        case "Home":
          return this.moments[0];
        case "End":
          return null;
        default:
          return undefined;
      }
    })();
    if (at === undefined) return;
    event.preventDefault();
    this.go(at);
  }

  /** Takes a date, a turn or nothing from the field. */
  private type(): void {
    const text = this.parts.shown.value.trim();
    if (text === "" || text === "now") {
      this.go(null);
      return;
    }
    const number = Number(text);
    const isTurn = Number.isFinite(number) && !(this.hasDates && /^\d{4}$/.test(text));
    const at = isTurn ? number : Date.parse(asUtc(text)) / 1000;
    if (Number.isFinite(at)) this.go(at);
    else this.label();
  }

  private get hasDates(): boolean {
    return isDate(this.moments.at(-1) ?? 0);
  }

  private label(): void {
    const { range, shown, about, now, all } = this.parts;
    range.value = String(this.partOf(this.moment));
    const text = this.moment === null ? "now" : shownTime(this.moment);
    shown.value = text;
    const where = this.where();
    range.setAttribute("aria-valuetext", where ? `${text}, ${where}` : text);
    about.textContent = this.span === null ? where : `what held from ${shownTime(this.span[0])} to ${shownTime(this.span[1])}`;
    now.setAttribute("aria-pressed", String(this.moment === null));
    all.hidden = this.span === null;
  }

  private where(): string {
    const [first, last] = [this.moments[0], this.moments.at(-1)];
    if (this.moment === null || first === undefined || last === undefined) return "";
    if (this.moment < first) return "before anything is known";
    return this.moment > last ? "after the last change" : "";
  }

  private play(): void {
    const step = Math.max(1, Math.round(this.moments.length / STEPS));
    this.parts.play.textContent = "❚❚ Pause";
    let place = this.moment === null ? 0 : this.moments.findIndex((other) => other > (this.moment ?? 0));
    this.timer = window.setInterval(() => {
      this.moment = this.moments[place] ?? null;
      place += step;
      if (this.moment === null) this.stop();
      this.tell(this.moment === null);
    }, STEP);
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = 0;
    this.parts.play.textContent = "▶ Replay";
  }

  private draw(): void {
    const { picture } = this.parts;
    this.width = Math.max(picture.clientWidth, 120);
    picture.setAttribute("viewBox", `0 0 ${this.width} ${HEIGHT}`);
    fill(picture);
    if (!this.moments.length) return;
    const [only, ...more] = this.moments;
    const single = more.length ? null : (only ?? 0); // an axis around one moment would count its fractions
    const ticks = Math.max(2, Math.floor(this.width / 90));
    const place = select(picture)
      .append("g")
      .attr("class", "axis")
      .attr("transform", `translate(0 ${HEIGHT - 20})`);
    const ends = [SIDE, this.width - SIDE];
    const numbers = scaleLinear(this.domain, ends);
    const x = (time: number): number => numbers(time);
    if (this.hasDates) {
      const dates = scaleUtc<number, number>(
        this.domain.map((time) => new Date(time * 1000)),
        ends,
      );
      const axis = axisBottom<Date>(dates as AxisScale<Date>).ticks(ticks).tickSizeOuter(0);
      if (single !== null) axis.tickValues([new Date(single * 1000)]).tickFormat(() => shownTime(single));
      place.call(axis);
    } else {
      const axis = axisBottom<number>(numbers as AxisScale<number>).ticks(ticks).tickSizeOuter(0);
      if (single !== null) axis.tickValues([single]).tickFormat(String);
      place.call(axis);
    }
    this.drawBars(x);
    this.drawBrush(x, (at) => numbers.invert(at));
    const at = this.moment === null ? this.width - SIDE : Math.min(Math.max(x(this.moment), SIDE), this.width - SIDE);
    picture.append(s("line", { class: "moment", x1: at, x2: at, y1: 0, y2: HEIGHT - 20 }));
  }

  /** Bars above the line: how much began; below it: how much ended. */
  private drawBars(x: (time: number) => number): void {
    const begun = new Map<number, number>();
    const ended = new Map<number, number>();
    const add = (bars: Map<number, number>, time: number, number: number): void => {
      const place = Math.floor(x(time) / BAR);
      if (number) bars.set(place, (bars.get(place) ?? 0) + number);
    };
    for (const [time, began, over] of this.store.changes()) {
      add(begun, time, began);
      add(ended, time, over);
    }
    const most = Math.sqrt(Math.max(1, ...begun.values(), ...ended.values()));
    const top = BARS + 2;
    const down = HEIGHT - 20 - top;
    const bar = (kind: string, place: number, number: number, words: string): SVGRectElement => {
      const size = (Math.sqrt(number) / most) * (kind === "begun" ? BARS : down - 2);
      const y = kind === "begun" ? top - size : top + 1;
      return s(
        "rect",
        { class: kind, x: place * BAR, y, width: BAR - 1, height: Math.max(size, 2) },
        s("title", {}, `${number.toLocaleString("en")} ${words}`),
      );
    };
    this.parts.picture.append(
      ...[...begun].map(([place, number]) => bar("begun", place, number, "began")),
      ...[...ended].map(([place, number]) => bar("ended", place, number, "ended")),
    );
  }

  private drawBrush(x: (time: number) => number, time: (place: number) => number): void {
    const brush = brushX<unknown>()
      .extent([
        [SIDE, 0],
        [this.width - SIDE, HEIGHT - 20],
      ])
      .on("end", (event: D3BrushEvent<unknown>) => {
        if (!event.sourceEvent) return; // drawn by us
        const chosen = event.selection as [number, number] | null;
        if (chosen === null) {
          this.span = null;
          const at = (event.sourceEvent as MouseEvent).clientX - this.parts.picture.getBoundingClientRect().left;
          this.go(at > this.width - SIDE * 1.5 ? null : time(at)); // a click, no drag
          return;
        }
        this.span = [time(chosen[0]), time(chosen[1])];
        this.tell(true);
      });
    const place = select(this.parts.picture).append("g").attr("class", "brush");
    place.call(brush);
    if (this.span !== null) {
      const [from, to] = this.span.map((end) => Math.min(Math.max(x(end), SIDE), this.width - SIDE));
      place.call(brush.move, [from ?? SIDE, Math.max(to ?? SIDE, (from ?? SIDE) + 1)]);
    }
  }
}

/** A date as it is typed, with the zone in which all times are shown unless it names another. */
function asUtc(text: string): string {
  if (/^\d{4}(-\d\d){0,2}$/.test(text)) return `${endOfPeriod(text)}Z`;
  return /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?$/.test(text) ? `${text.replace(" ", "T")}Z` : text;
}

/** The last second of a year, a month or a day, without its time zone. */
function endOfPeriod(text: string): string {
  const [year = 0, month = 12, day] = text.split("-").map(Number);
  const last = day ?? new Date(Date.UTC(year, month, 0)).getUTCDate();
  const two = (number: number): string => String(number).padStart(2, "0");
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(last)}T23:59:59`;
}
