// A play as it goes on.
import { get, post, said } from "../common/api";
import { type Chart, chart } from "../common/charts";
import { count, fill, h, tell } from "../common/dom";
import { type MapDrawing, mapPicture } from "../common/map";
import { type Step, stepParts } from "../common/step";
import { Stream } from "../common/stream";
import { theme } from "../common/theme";
import { FAKE, shownPlayer } from "../common/words";
import type { PlayTold } from "./choices";

interface PictureTold {
  map: MapDrawing;
  carried: string[];
  goal: string;
  max_score: number | null;
  max_moves: number | null;
  won: boolean;
  lost: boolean;
  over: boolean;
  audit: { precision: number; recall: number; stale_steps: number } | null;
  tokens: number | null;
  cost_usd: number | null;
}

const SPEEDS: [string, number][] = [
  ["slow", 1.5],
  ["normal", 0.5],
  ["fast", 0.1],
  ["full speed", 0],
];
const STATES: Record<string, string> = {
  preparing: "preparing the game …",
  ended: "finished",
  stopped: "stopped; resume it with worldthread play --resume",
  failed: "failed",
};
const MOVES = 200; // lines kept in the list of moves

export class Watch {
  readonly element = h("div", { class: "watch" });
  private readonly steps: Step[] = [];
  private stream: Stream | null = null;
  private play: PlayTold;
  private picture: PictureTold | null = null;
  private over = false;
  private drawn = 0;

  private readonly title = h("h1");
  private readonly state = h("span", { class: "badge", id: "state", role: "status" });
  private readonly goal = h("p", { class: "goal" });
  private readonly figures = h("div", { class: "tiles" });
  private readonly map = h("div", { class: "map-place card" });
  private readonly card = h("article", { class: "card step", "aria-live": "polite" });
  private readonly carried = h("ul", { class: "chips" });
  private readonly moves = h("ol", { class: "moves" });
  private readonly growth = h("div", { class: "growth" });
  private readonly ended = h("div");
  private readonly hold = h("button", { id: "hold", click: () => void this.turn(this.play.held ? "go_on" : "hold") });
  private readonly stepOn = h("button", { id: "step-on", click: () => void this.turn("step") }, "Step");
  private readonly take = h("button", {
    id: "take",
    click: () => void this.turn(this.play.by_hand ? "give_back" : "take"),
  });
  private readonly stop = h("button", { id: "stop", click: () => void this.turn("stop") }, "Stop");
  private readonly speed = h(
    "select",
    { id: "speed", "aria-label": "Speed", change: () => void this.turn("slow", { delay: Number(this.speed.value) }) },
    ...SPEEDS.map(([name, delay]) => h("option", { value: delay }, name)),
  );
  private readonly input = h("input", {
    id: "typed",
    type: "text",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    "aria-label": "Your move",
    placeholder: "What do you do?",
    maxlength: 1000,
  });
  private readonly send = h("button", { class: "primary" }, "Send");
  private readonly undo = h("button", { type: "button", id: "undo", click: () => void this.turn("undo") }, "Undo");
  private readonly finish = h(
    "button",
    { type: "button", id: "finish", click: () => void this.turn("finish") },
    "Finish",
  );
  private readonly form = h(
    "form",
    { class: "row typed", submit: (event) => this.submit(event) },
    this.input,
    this.send,
    this.undo,
    this.finish,
  );
  private readonly offered = h("div", { class: "chips offered", "aria-label": "Valid actions" });

  constructor(private readonly told: PlayTold & { run: string }) {
    this.play = told;
    fill(
      this.element,
      h("p", { class: "back" }, h("a", { href: "#" }, "← Other games")),
      h("div", { class: "row heading" }, this.title, this.state),
      this.goal,
      h(
        "div",
        { class: "row controls" },
        this.hold,
        this.stepOn,
        this.take,
        this.stop,
        h("span", { class: "grow" }),
        this.speed,
      ),
      this.ended,
      h(
        "div",
        { class: "playing" },
        h("div", {}, h("section", { class: "hand" }, this.form, this.offered), this.map, this.growth),
        h(
          "div",
          {},
          this.figures,
          this.card,
          h("section", { class: "rest" }, h("h3", {}, "Carried"), this.carried, h("h3", {}, "Moves"), this.moves),
        ),
      ),
    );
    this.showState();
  }

  open(): void {
    const path = `/api/plays/${encodeURIComponent(this.told.id)}`;
    this.stream = new Stream(`${path}/events`, {
      heard: {
        step: (step) => this.addStep(step as Step),
        picture: (picture) => {
          this.picture = picture as PictureTold;
          this.soon();
        },
        state: (play) => {
          this.play = play as PlayTold;
          this.showState();
        },
        end: (told) => this.showEnd((told as { summary: Record<string, unknown> }).summary),
        problem: (told) =>
          fill(this.ended, h("p", { class: "card error", role: "alert" }, (told as { message: string }).message)),
        over: () => {
          this.over = true;
          this.close();
          this.element.dataset["over"] = "yes";
          this.soon();
        },
      },
      ask: (signal) => get(path, {}, signal),
      say: (message) => {
        tell(message);
        this.element.dataset["line"] = message === null ? "there" : "lost";
      },
      // a server that was started again knows no such play: the page that loads leads to its run
      gone: () => window.dispatchEvent(new HashChangeEvent("hashchange")),
    });
  }

  close(): void {
    this.stream?.close();
  }

  private addStep(step: Step): void {
    this.steps.push(step);
    const points = step.reward ? ` ${step.reward > 0 ? "+" : ""}${step.reward}` : "";
    if (step.action !== null || step.return_to != null) {
      this.moves.prepend(
        h(
          "li",
          {},
          h("span", { class: "number" }, step.turn),
          h("span", { class: "did" }, step.label),
          h("span", { class: "good" }, points),
          step.reason ? h("span", { class: "muted" }, step.reason) : null,
        ),
      );
      while (this.moves.childElementCount > MOVES) this.moves.lastElementChild?.remove();
    }
    this.soon();
  }

  /** Draws once for all that came with one breath. */
  private soon(): void {
    if (this.drawn) return;
    this.drawn = window.setTimeout(() => {
      this.drawn = 0;
      this.draw();
    }, 30);
  }

  private draw(): void {
    const step = this.steps.at(-1);
    const { picture } = this;
    if (step === undefined) return;
    this.element.dataset["moves"] = String(step.turn);
    fill(this.card, ...stepParts({ ...step, valid_actions: null }, picture?.max_score ?? null));
    if (picture !== null) {
      this.goal.textContent = picture.goal;
      fill(
        this.map,
        picture.map.rooms.length ? mapPicture(picture.map) : h("p", { class: "muted" }, "No map yet."),
        h(
          "p",
          { class: "muted path" },
          `${count(picture.map.rooms.length, "room")}, ${count(picture.map.exits.length, "unexplored exit")}`,
        ),
      );
      fill(
        this.carried,
        ...(picture.carried.length
          ? picture.carried.map((thing) => h("li", { class: "badge" }, thing))
          : [h("li", { class: "muted" }, "nothing")]),
      );
    }
    this.drawFigures(step);
    this.drawGrowth();
    const offered = this.play.by_hand && !this.over ? (step.valid_actions ?? []) : [];
    fill(
      this.offered,
      ...offered.map((action) =>
        h("button", { type: "button", class: "chip", click: () => void this.turn("type", { text: action }) }, action),
      ),
    );
  }

  private drawFigures(step: Step): void {
    const { picture } = this;
    const tile = (name: string, value: string, meaning?: string): HTMLElement =>
      h("div", { class: "tile", title: meaning }, h("strong", {}, value), h("span", {}, name));
    const best = picture?.max_score;
    fill(
      this.figures,
      tile("score", best === null || best === undefined ? String(step.score) : `${step.score}/${best}`),
      tile("moves", picture?.max_moves ? `${step.turn}/${picture.max_moves}` : String(step.turn)),
      tile("facts", String(step.facts), "Facts in the memory that hold now"),
      picture?.audit ? tile("precision", picture.audit.precision.toFixed(3), "Share of the facts in the memory that are true in the game") : null,
      picture?.audit ? tile("recall", picture.audit.recall.toFixed(3), "Share of what the player has seen that the memory knows") : null,
      picture?.tokens != null ? tile("tokens", picture.tokens.toLocaleString("en")) : null,
      picture?.tokens != null
        ? tile("cost", picture.cost_usd === null ? "price unknown" : `$${picture.cost_usd.toFixed(4)}`)
        : null,
    );
  }

  private drawGrowth(): void {
    const colours = theme();
    const x = this.steps.map((step) => step.turn);
    const parts: Chart[] = [
      chart({
        title: "size of the memory",
        x,
        lines: [
          { name: "facts that hold", colour: colours.entity, values: this.steps.map((step) => step.facts) },
          { name: "names and sentences", colour: colours.thesis, values: this.steps.map((step) => step.vertices) },
        ],
      }),
    ];
    parts.forEach((one) => one.mark(x.length - 1));
    fill(this.growth, ...parts.map((one) => one.element));
  }

  private showState(): void {
    const { play } = this;
    const over = ["ended", "stopped", "failed"].includes(play.state);
    const alone = play.agent === "human";
    this.title.textContent = play.game;
    const who = shownPlayer(play.agent, play.module);
    const now =
      over || play.state === "preparing"
        ? (STATES[play.state] ?? play.state)
        : play.by_hand
          ? play.asking
            ? "your move"
            : "…"
          : play.held
            ? "paused"
            : "playing";
    this.state.textContent = `${alone ? "you" : who}${play.model === FAKE ? " with the fake model" : ""}, seed ${play.seed}: ${now}`;
    this.element.dataset["state"] = play.state;
    this.element.dataset["asking"] = String(play.asking);
    this.hold.textContent = play.held ? "Resume" : "Pause";
    this.take.textContent = play.by_hand ? "Hand back" : "Take over";
    for (const button of [this.hold, this.stepOn, this.take]) button.hidden = alone || over;
    for (const button of [this.hold, this.stepOn]) button.disabled = play.by_hand;
    this.speed.hidden = alone || over;
    this.stop.hidden = over || alone;
    this.speed.value = String(play.delay);
    this.form.hidden = over || !play.by_hand;
    this.undo.hidden = !play.can_undo;
    this.finish.hidden = !alone;
    this.send.disabled = !play.asking;
    if (play.asking && document.activeElement === document.body) this.input.focus();
    this.soon();
  }

  private showEnd(summary: Record<string, unknown>): void {
    const won = Boolean(summary["won"]);
    fill(
      this.ended,
      h(
        "p",
        { class: won ? "card outcome good" : "card outcome", id: "outcome" },
        h("strong", {}, won ? "Won" : "Not won"),
        ` with ${String(summary["score"])}${summary["max_score"] ? ` of ${String(summary["max_score"])}` : ""} points in ${String(summary["moves"])} moves. `,
        h("a", { href: `/runs#run=${this.told.run}` }, "Step through it"),
        " · ",
        h("a", { href: `/#memory=run-${this.told.run}` }, "Open its memory"),
      ),
    );
  }

  private submit(event: Event): void {
    event.preventDefault();
    const text = this.input.value.trim();
    if (!text) return;
    this.input.value = "";
    void this.turn("type", { text });
  }

  private async turn(action: string, more: Record<string, unknown> = {}): Promise<void> {
    try {
      await post(`/api/plays/${encodeURIComponent(this.told.id)}/turn`, { do: action, ...more });
      tell(null);
    } catch (error) {
      tell(said(error));
    }
  }
}
