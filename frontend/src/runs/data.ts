// What the server tells about runs and sweeps.
import type { Step } from "../common/step";

/** A run as the list has it. One that cannot be read has an error and nothing else. */
export interface ListedRun {
  id: string;
  name: string;
  changed: number;
  error: string | null;
  game?: string;
  agent?: string;
  module?: string;
  model?: string;
  seed?: number | null;
  attempt?: number;
  is_complete?: boolean;
  won?: boolean;
  ended_by?: string | null;
  score?: number | null;
  max_score?: number | null;
  moves?: number | null;
}

export interface ListedSweep {
  id: string;
  name: string;
  finished: number;
  error: string | null;
}

export interface Listing {
  folder: string;
  runs: ListedRun[];
  sweeps: ListedSweep[];
}

/** Figures at each step. */
export interface Curves {
  turn: number[];
  score: number[];
  facts: number[];
  vertices: number[];
  learned: number[];
  ended: number[];
  tokens: number[];
}

/** The figures of a run that came to its end; an empty object for any other. */
export interface RunSummary {
  won?: boolean;
  ended_by?: string | null;
  score?: number;
  best_score?: number;
  max_score?: number | null;
  moves?: number;
  decisions?: number;
  returns?: number;
  optimal_moves?: number | null;
  unparsable?: number;
  model_calls?: number;
  prompt_tokens?: number;
  completion_tokens?: number;
  cost_usd?: number | null;
  seconds?: number;
  audit?: { precision: number; recall: number } | null;
}

export interface RunTold {
  id: string;
  name: string;
  /** The key of its memory, if there is one in its folder. */
  memory: string | null;
  header: {
    game?: string;
    agent?: string;
    seed?: number;
    settings?: { memory?: string; model?: string; attempt?: number };
  };
  summary: RunSummary;
  steps: number;
  curves: Curves;
}

export interface StepsTold {
  offset: number;
  total: number;
  steps: Step[];
}

/** A question to the model, and its answer or the reason why there is none. */
export interface Call {
  purpose: string;
  messages: { role: string; content: string }[];
  answer?: string;
  was_cut_off?: boolean;
  prompt_tokens?: number;
  completion_tokens?: number;
  error?: string;
}

/** A mean over runs with its 95 % interval. */
export interface Spread {
  mean: number;
  interval: [number, number];
}

/** The figures of the runs of one game by one agent with one memory module. */
export interface Group {
  game: string;
  agent: string;
  memory: string | null;
  model: string | null;
  runs: number;
  wins: number;
  returns: number;
  score: Spread | null;
  best_score: Spread | null;
  normalized: Spread | null;
  best_normalized: Spread | null;
  median_moves: number;
  median_decisions: number;
  median_ratio: number | null;
  model_calls: number;
  tokens: Spread | null;
  dollars: Spread | null;
  seconds: Spread | null;
  audit: { precision: number; recall: number; stale_steps: number } | null;
}

export interface SweepTold {
  id: string;
  name: string;
  groups: Group[];
  /** False when the package that computes the intervals is not installed: then there are no groups either. */
  has_intervals: boolean;
  runs: ListedRun[];
}
