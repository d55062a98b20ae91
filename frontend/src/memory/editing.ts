// Changes by hand: remember, correct, merge, forget and undo. Before something goes, the page shows what.
import { get, post, said } from "../common/api";
import { at, type Child, count, fill, h } from "../common/dom";
import { namedTime } from "../common/times";
import type { Choice } from "./address";
import type { Said } from "./data";
import type { Edited } from "./panel";
import { Waiting } from "./waiting";

interface Remembered {
  added: number;
  known: number;
  unread: number;
  statements: number;
  was_cancelled: boolean;
  undo: string | null;
}

interface Loss {
  ids: string[];
  episodes: number;
  texts: { text: string; at: number; source: string }[];
  gone: string[];
  gone_count: number;
  back: string[];
  back_count: number;
}

const LARGEST = 4_000_000; // bytes of a file

export class Editing {
  private readonly dialog = at("editor", HTMLDialogElement);
  private readonly done = at("done", HTMLElement);
  private readonly opener = at("remember", HTMLButtonElement);
  private editable = false;
  private told = 0; // how often something was said at the foot of the page
  private about: Promise<{ editable: boolean; model: string }> | null = null;

  constructor(
    private readonly parts: { path: (tail?: string) => string; changed: (chosen: Choice | null) => void },
  ) {
    this.opener.addEventListener("click", () => this.askText());
    const stage = document.body;
    stage.addEventListener("dragover", (event) => {
      if (this.editable && event.dataTransfer?.types.includes("Files")) event.preventDefault();
    });
    stage.addEventListener("drop", (event) => {
      const file = event.dataTransfer?.files[0];
      if (!this.editable || file === undefined) return;
      event.preventDefault();
      void this.rememberFile(file);
    });
  }

  /** The model that answers when a person asks it to; empty without one. */
  async modelName(): Promise<string> {
    return (await this.server()).model;
  }

  private server(): Promise<{ editable: boolean; model: string }> {
    return (this.about ??= get("/api/about"));
  }

  /** What can be changed about something. */
  buttons(about: Edited): HTMLElement[] {
    if (!this.editable) return [];
    const button = (words: string, click: () => void): HTMLElement => h("button", { type: "button", click }, words);
    if (about.kind === "name") {
      return [
        button("Merge with …", () => this.askMerge(about.name, about.label)),
        button("Forget …", () => void this.askForget({ entity: about.name }, `everything about ${about.label}`)),
      ];
    }
    if (about.kind === "source") {
      return [button("Forget …", () => void this.askForget({ episode: about.episode.id }, "this text"))];
    }
    const { statement } = about;
    return [
      button("Correct …", () => this.askCorrect(statement)),
      button("Forget …", () => void this.askForget({ statement: statement.id }, `“${statement.text}”`)),
    ];
  }

  /** The button beside a line that corrects what it says. */
  pencil(statement: Said): HTMLElement | null {
    if (!this.editable) return null;
    const name = `Correct “${statement.text}”`;
    return h("button", { type: "button", class: "pencil", "aria-label": name, title: name, click: () => this.askCorrect(statement) }, "✎");
  }

  /** Offers what can be done with this memory; where nothing is remembered: a sample, a file, or a game. */
  async offerStart(isOwn: boolean, isEmpty: boolean): Promise<void> {
    const place = at("nothing", HTMLElement);
    this.editable = (await this.server()).editable && isOwn;
    this.opener.hidden = !this.editable;
    place.hidden = !isEmpty;
    if (!isEmpty) return;
    fill(at("panel", HTMLElement), h("h2", {}, "Nothing is remembered yet"), h("p", { class: "muted" }, "A memory keeps what texts say: who and what there is, what is true, since when, and what has ended and why."));
    const file = h("input", { type: "file", id: "first-file", accept: ".txt,.text,.md,.markdown,.json,.jsonl" });
    file.addEventListener("change", () => {
      if (file.files?.[0]) void this.rememberFile(file.files[0]);
    });
    const cards: Child[] = this.editable
      ? [
          h(
            "section",
            { class: "card" },
            h("h2", { class: "small" }, "See an example"),
            h("p", {}, "Forty letters of an invented family over ten years, read by rule, without a model."),
            h("button", { type: "button", class: "primary", id: "sample", click: () => void this.rememberSample() }, "Remember the sample"),
          ),
          h(
            "section",
            { class: "card" },
            h("h2", { class: "small" }, "Bring a text"),
            h("p", {}, "Drop a file here, choose one, or type: plain text, Markdown, JSON or a chat."),
            h("label", { class: "button" }, "Choose a file", h("span", { class: "unseen" }, file)),
            " ",
            h("button", { type: "button", click: () => this.askText() }, "Type a text"),
          ),
        ]
      : [h("p", { class: "hint" }, "Nothing is remembered here yet, and this server is read-only. Add a text with `worldthread remember FILE`.")];
    fill(
      place,
      ...cards,
      h(
        "section",
        { class: "card" },
        h("h2", { class: "small" }, "Watch a game"),
        h("p", {}, "An agent explores a house, and the map in its memory grows while you watch."),
        h("a", { class: "button", href: "/play" }, "Choose a game"),
      ),
    );
  }

  // -- remembering ------------------------------------------------------------------------------------------------

  private async rememberSample(): Promise<void> {
    await this.work("Reading the sample …", async () => this.toldOf(await post<Remembered>(this.at("/sample"), {}), null));
  }

  private async rememberFile(file: File): Promise<void> {
    await this.work(`Reading ${file.name} …`, async () => {
      if (file.size > LARGEST) throw new Error(`this file is larger than 4 MB: use \`worldthread remember ${file.name}\``);
      const body = { text: await file.text(), source: file.name.slice(0, 300), is_file: true };
      this.toldOf(await post<Remembered>(this.at("/remember"), body), null);
    });
  }

  private askText(): void {
    const text = h("textarea", { id: "new-text", rows: 8, required: true, dir: "auto" });
    const date = h("input", { id: "new-at", type: "text", placeholder: "now, 2024-05-01, or a turn", autocomplete: "off" });
    const source = h("input", { id: "new-source", type: "text", placeholder: "a letter, a call, …", autocomplete: "off" });
    const file = h("input", { type: "file", id: "new-file", accept: ".txt,.text,.md,.markdown,.json,.jsonl" });
    file.addEventListener("change", () => {
      const chosen = file.files?.[0];
      if (chosen === undefined) return;
      this.dialog.close();
      void this.rememberFile(chosen);
    });
    const user = h("input", { id: "new-user", type: "text", placeholder: "not known", autocomplete: "off" });
    this.ask("Remember a text", "Remember", [
      h("label", { for: "new-text" }, "Text"),
      text,
      h("label", { for: "new-at" }, "When it was true"),
      date,
      h("label", { for: "new-source" }, "Source"),
      source,
      h("label", { for: "new-user" }, "Author, who is meant by “I”"),
      user,
      h("label", { for: "new-file" }, "Or choose a file"),
      file,
    ], async () => {
      const body = { text: text.value, at: date.value.trim(), source: source.value.trim(), user: user.value.trim() };
      this.toldOf(await post<Remembered>(this.at("/remember"), body), null);
    });
  }

  private toldOf(result: Remembered, chosen: Choice | null): void {
    const words = [`Remembered ${count(result.added, "text")} with ${count(result.statements, "statement")}`];
    if (result.was_cancelled) words.push("the rest was cancelled");
    if (result.known) words.push(`${count(result.known, "text")} known before`);
    if (result.unread) words.push(`${result.unread} could not be read`);
    this.finish(words.join("; "), result.undo, chosen);
  }

  // -- changing ---------------------------------------------------------------------------------------------------

  private askCorrect(statement: { id: string; text: string; subject?: string; relation?: string; object?: string }): void {
    const part = (name: string, value = ""): HTMLInputElement => h("input", { type: "text", id: `right-${name}`, value, autocomplete: "off" });
    const [subject, relation, object] = [part("subject", statement.subject), part("relation", statement.relation), part("object")];
    const reason = h("input", { type: "text", id: "why", autocomplete: "off" });
    const never = h("input", { type: "radio", name: "since", value: "never", checked: true });
    const ended = h("input", { type: "radio", name: "since", value: "ended" });
    this.ask("Correct a statement", "Correct", [
      h("p", { class: "struck" }, statement.text),
      h("label", { class: "choice" }, never, " This was never true"),
      h("label", { class: "choice" }, ended, " This was true, and is no longer"),
      h("fieldset", {}, h("legend", {}, "What is true instead (leave the last field empty if nothing)"),
        h("label", { for: "right-subject" }, "Subject"), subject,
        h("label", { for: "right-relation" }, "Relation"), relation,
        h("label", { for: "right-object" }, "Object"), object),
      h("label", { for: "why" }, "Why"),
      reason,
    ], async () => {
      const parts = [subject.value.trim(), relation.value.trim(), object.value.trim()];
      if (parts[2] && !parts.every(Boolean)) throw new Error("fill in the subject and the relation too");
      const body = {
        statement: statement.id,
        replacement: parts.every(Boolean) ? parts : null,
        reason: reason.value.trim(),
        has_changed: ended.checked,
      };
      const result = await post<{ undo: string }>(this.at("/correct"), body);
      this.finish(ended.checked ? "The statement has ended" : "Corrected", result.undo, parts[2] ? { kind: "name", id: (parts[0] ?? "").toLowerCase() } : null);
    });
  }

  private askMerge(name: string, label: string): void {
    const into = h("input", { type: "text", id: "merge-into", required: true, autocomplete: "off" });
    const reason = h("input", { type: "text", id: "why", autocomplete: "off" });
    this.ask(`Merge ${label} with another name`, "Merge", [
      h("p", {}, "Both names mean the same: what is known about either is then known about one. The texts stay as they were written."),
      h("label", { for: "merge-into" }, `Name to show instead of “${label}”`),
      into,
      h("label", { for: "why" }, "Why"),
      reason,
    ], async () => {
      const body = { name, into: into.value.trim(), reason: reason.value.trim() };
      const result = await post<{ undo: string }>(this.at("/merge"), body);
      this.finish(`Merged ${label} with ${body.into}`, result.undo, { kind: "name", id: body.into.toLowerCase() });
    });
  }

  private async askForget(what: Record<string, string>, words: string): Promise<void> {
    await this.work("Looking up what would go …", async () => {
      const told = await get<Loss>(this.at("/forgetting"), what);
      const more = (shown: number, all: number): Child => (all > shown ? h("li", { class: "muted" }, `and ${all - shown} more`) : null);
      this.ask(`Forget ${words}?`, `Forget ${count(told.episodes, "text")}`, [
        h("p", {}, `${count(told.episodes, "text")} would go, with all that only ${told.episodes === 1 ? "it says" : "they say"}, as if ${told.episodes === 1 ? "it" : "they"} had never been remembered.`),
        h("h3", {}, "Texts"),
        h("ul", { class: "plain lost" }, ...told.texts.map((one) => h("li", {}, h("span", { class: "when" }, `${namedTime(one.at)} `), one.text)), more(told.texts.length, told.episodes)),
        told.gone_count ? h("h3", {}, `Statements that would go (${told.gone_count})`) : null,
        h("ul", { class: "plain struck" }, ...told.gone.map((one) => h("li", {}, one)), more(told.gone.length, told.gone_count)),
        told.back_count ? h("h3", {}, `Statements that would hold again (${told.back_count})`) : null,
        h("ul", { class: "plain" }, ...told.back.map((one) => h("li", {}, one)), more(told.back.length, told.back_count)),
      ], async () => {
        const result = await post<{ forgotten: number; undo: string }>(this.at("/forget"), { ids: told.ids });
        this.finish(`Forgot ${count(result.forgotten, "text")}`, result.undo, null);
      });
    });
  }

  // -- dialogs ----------------------------------------------------------------------------------------------------

  private at(tail: string): string {
    return this.parts.path(tail);
  }

  private ask(title: string, act: string, body: Child[], work: () => Promise<void>): void {
    const problem = h("p", { class: "error", role: "alert", hidden: true });
    const button = h("button", { class: "primary", id: "editor-do" }, act);
    const form = h(
      "form",
      { class: "editor" },
      h("h2", { id: "editor-title" }, title),
      ...body,
      problem,
      h("div", { class: "buttons" }, button, h("button", { type: "button", click: () => this.dialog.close() }, "Cancel")),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      button.disabled = true;
      try {
        await work();
        this.dialog.close();
      } catch (error) {
        problem.textContent = said(error);
        problem.hidden = false;
      }
      button.disabled = false;
    });
    fill(this.dialog, form);
    this.done.hidden = true;
    if (!this.dialog.open) this.dialog.showModal();
  }

  private async work(words: string, work: () => Promise<void>): Promise<void> {
    const waiting = new Waiting(this.at("/work"), null);
    this.tell(words, false, " ", waiting.element);
    const mine = this.told;
    try {
      await work();
    } catch (error) {
      this.tell(said(error), true);
      return;
    } finally {
      waiting.end();
    }
    if (this.told === mine) this.done.hidden = true;
  }

  private tell(words: string, isError = false, ...more: Child[]): void {
    this.told += 1;
    fill(this.done, words, ...more);
    this.done.classList.toggle("error", isError);
    this.done.hidden = false;
  }

  private finish(words: string, undo: string | null, chosen: Choice | null): void {
    const button =
      undo === null
        ? null
        : h("button", { type: "button", id: "undo", click: () => void this.takeBack(undo) }, "Undo");
    const close = h("button", { type: "button", "aria-label": "Close", click: () => (this.done.hidden = true) }, "×");
    this.tell(`${words}. `, false, button, " ", close);
    this.parts.changed(chosen);
  }

  private async takeBack(key: string): Promise<void> {
    await this.work("Undoing …", async () => {
      await post(this.at("/undo"), { key });
      this.finish("Undone", null, null);
    });
  }
}
