// What the server is asked.

export class ServerError extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
  ) {
    super(message);
  }
}

export type Parameters = Record<string, string | number | boolean | null | undefined>;

export async function get<T>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== false) query.set(name, value === true ? "1" : String(value));
  }
  const tail = query.size ? `?${query}` : "";
  return answered<T>(await fetch(path + tail, { headers: { accept: "application/json" }, signal: signal ?? null }));
}

export async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return answered<T>(
    await fetch(path, {
      method: "POST",
      headers: { accept: "application/json", "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: signal ?? null,
    }),
  );
}

async function answered<T>(response: Response): Promise<T> {
  const data: unknown = await response.json().catch(() => null);
  if (response.ok) return data as T;
  const error = (data as { error?: { kind?: string; message?: string } } | null)?.error;
  throw new ServerError(
    response.status,
    error?.kind ?? "NoAnswer",
    error?.message ?? `the server answered ${response.status}`,
  );
}

/** An error in words. */
export function said(error: unknown): string {
  if (error instanceof ServerError) return error.message;
  if (error instanceof TypeError) return "The server does not answer. Is “worldthread web” still running?";
  return error instanceof Error ? error.message : String(error);
}

export const wasGivenUp = (error: unknown): boolean => error instanceof DOMException && error.name === "AbortError";
