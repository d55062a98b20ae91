// What is to be played, and by whom.
import { post, said } from "../common/api";
import { count, fill, h, tell } from "../common/dom";
import { FAKE, shownPlayer } from "../common/words";
import { PlaySettings, type Settings } from "./settings";

export interface Choices {
  games: {
    name: string;
    title: string;
    description: string;
    max_moves: number | null;
    /** The extra that is not installed. */
    missing: string | null;
    /** Whether its game file was not found. */
    needs_file: boolean;
  }[];
  agents: { name: string; about: string; asks_model: boolean; takes_module: boolean }[];
  modules: string[];
  model: string;
  /** The command that installs what is missing. */
  install: string;
}

export interface PlayTold {
  id: string;
  game: string;
  agent: string;
  module: string;
  model: string;
  seed: number;
  name: string;
  state: string;
  held: boolean;
  by_hand: boolean;
  asking: boolean;
  delay: number;
  can_undo: boolean;
}

export function drawChoices(place: HTMLElement, choices: Choices, plays: PlayTold[]): void {
  const playable = choices.games.filter((game) => game.missing === null && !game.needs_file);
  const first = playable.find((game) => game.name === "treasure-hunt") ?? playable[0];
  const game = h(
    "select",
    { id: "game" },
    ...playable.map((one) =>
      h(
        "option",
        { value: one.name, selected: one === first },
        one.title === one.name ? one.name : `${one.title} (${one.name})`,
      ),
    ),
  );
  const about = h("p", { class: "muted", id: "about-game" });
  const aboutAgent = h("p", { class: "muted", id: "about-agent" });
  const aboutModel = h("p", { class: "hint", id: "about-model" });
  const agent = h(
    "select",
    { id: "agent" },
    ...choices.agents
      .filter(({ name }) => name !== "human")
      .map((one) =>
        h(
          "option",
          { value: one.name, selected: one.name === "explorer" },
          one.asks_model ? `${one.name} (asks a model)` : one.name,
        ),
      ),
  );
  const module = h(
    "select",
    { id: "module" },
    h("option", { value: "" }, "the agent's default"),
    ...choices.modules.map((name) => h("option", { value: name }, name)),
  );
  const model = h(
    "select",
    { id: "model" },
    choices.model ? h("option", { value: "" }, choices.model) : null,
    h("option", { value: "fake" }, "fake model (answers at random)"),
  );
  const seed = h("input", { type: "number", id: "seed", min: 0, max: 2147483647, value: 1, required: true });
  const steps = h("input", { type: "number", id: "steps", min: 1, max: 100000, placeholder: "the game's limit" });
  const dollars = h("input", { type: "number", id: "dollars", min: 0, step: 0.01, placeholder: "no limit" });
  const withModel = [h("label", { for: "model" }, "Model"), model];
  const withCost = [h("label", { for: "dollars" }, "Budget in dollars"), dollars];
  const withModule = [h("label", { for: "module" }, "Memory module"), module];
  const settings = new PlaySettings(() => {
    const takesModule = choices.agents.find((one) => one.name === agent.value)?.takes_module;
    return { game: game.value, agent: agent.value, module: takesModule ? module.value : "" };
  });
  const update = (): void => {
    const chosen = choices.games.find((one) => one.name === game.value);
    fill(about, chosen?.description, chosen?.max_moves ? ` At most ${chosen.max_moves} moves.` : null);
    const kind = choices.agents.find((one) => one.name === agent.value);
    fill(aboutAgent, kind?.about, kind?.asks_model ? " It asks a model." : " It needs no model.");
    const isFake = Boolean(kind?.asks_model) && model.value === "fake";
    fill(aboutModel, isFake ? "The fake model answers at random: this shows how the agent works, not how well it plays." : null);
    aboutModel.hidden = !isFake;
    for (const element of withModel) element.hidden = !kind?.asks_model;
    for (const element of withCost) element.hidden = !kind?.asks_model || isFake; // the fake model costs nothing
    for (const element of withModule) element.hidden = !kind?.takes_module;
  };
  for (const one of [game, agent, module]) {
    one.addEventListener("change", () => {
      update();
      settings.changed();
    });
  }
  model.addEventListener("change", update);
  const begin = async (who: string): Promise<void> => {
    const kind = choices.agents.find((one) => one.name === who);
    try {
      const play = await post<PlayTold>("/api/plays", {
        game: game.value,
        agent: who,
        module: kind?.takes_module ? module.value : "",
        seed: seed.valueAsNumber || 0,
        steps: Number.isNaN(steps.valueAsNumber) ? null : steps.valueAsNumber,
        settings: who === agent.value ? settings.values() : onlyOfGame(settings.values()),
        fake_model: Boolean(kind?.asks_model) && model.value === "fake",
        budget_dollars: kind?.asks_model && !Number.isNaN(dollars.valueAsNumber) ? dollars.valueAsNumber : null,
      });
      location.hash = `play=${play.id}`;
    } catch (error) {
      tell(said(error));
    }
  };
  const form = h(
    "form",
    {
      class: "card choices",
      submit: (event) => {
        event.preventDefault();
        void begin(agent.value);
      },
    },
    h("label", { for: "game" }, "Game"),
    game,
    about,
    h("label", { for: "agent" }, "Agent"),
    agent,
    aboutAgent,
    ...withModule,
    ...withModel,
    ...withCost,
    aboutModel,
    h("label", { for: "seed" }, "Seed"),
    seed,
    h("label", { for: "steps" }, "Maximum number of moves"),
    steps,
    settings.element,
    h(
      "div",
      { class: "buttons" },
      h("button", { class: "primary", id: "watch" }, "Watch the agent"),
      h("button", { type: "button", id: "play-self", click: () => void begin("human") }, "Play it yourself"),
    ),
  );
  const missing = choices.games.filter((one) => one.missing !== null);
  const lacking = choices.games.filter((one) => one.missing === null && one.needs_file);
  fill(
    place,
    h("h1", {}, "Play"),
    h(
      "p",
      { class: "muted" },
      "Watch an agent explore a world it has never seen, take over whenever you like, or play yourself. Every play is kept as a run.",
    ),
    h(
      "div",
      { class: "begin" },
      form,
      plays.length
        ? h(
            "section",
            {},
            h("h2", { class: "small" }, "Plays of this server"),
            h(
              "ul",
              { class: "plays" },
              ...plays.map((play) =>
                h(
                  "li",
                  {},
                  h(
                    "a",
                    { class: "card link", href: `#play=${play.id}` },
                    h("strong", {}, play.game),
                    h("span", { class: "muted" }, `${shownPlayer(play.agent, play.module)}${play.model === FAKE ? " (fake model)" : ""}, seed ${play.seed}`),
                    h("span", { class: "badge" }, play.state),
                  ),
                ),
              ),
            ),
          )
        : whatIsShown(),
    ),
    missing.length || lacking.length
      ? h(
          "details",
          { class: "muted", id: "unplayable" },
          h("summary", {}, `${count(missing.length + lacking.length, "more game")} cannot run here yet`),
          missing.length
            ? h(
                "p",
                {},
                `Not installed: ${missing.map((one) => one.name).join(", ")}. `,
                h("code", {}, choices.install),
              )
            : null,
          lacking.length
            ? h(
                "p",
                {},
                `Without their file: ${lacking.map((one) => one.name).join(", ")}. Name the folder with your game files in `,
                h("code", {}, "$WORLDTHREAD_GAMES"),
                " and start the server again.",
              )
            : null,
        )
      : null,
  );
  update();
}

/** What a play shows, for those who have not seen one yet. */
const whatIsShown = (): HTMLElement =>
  h(
    "section",
    {},
    h("h2", { class: "small" }, "What you will see"),
    h(
      "ul",
      { class: "bullets" },
      h("li", {}, "the map in the agent's memory, as it grows room by room"),
      h("li", {}, "each move, why the agent makes it, and what it costs"),
      h("li", {}, "what each move taught the memory, and which statements it ended"),
      h("li", {}, "how much of the memory is true, where the game can tell"),
    ),
  );

/** A person has no settings, but the game has. */
function onlyOfGame({ game }: Settings): Settings {
  return game === undefined ? {} : { game };
}
