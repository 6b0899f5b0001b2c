import type { PromptManifest, ResourceManifest } from '../../../contract/manifest.ts'

/** One field of a tool's input, ready to be written in any form. All texts are free of control characters. */
export type DocParameter = {
  readonly field: string
  /** `<pattern>` or `--max-depth <integer>`. */
  readonly term: string
  readonly short?: string
  /** What JSON has to hold, in the manner of TypeScript: `string`, `"a" | "b"`, `{ name: string }[]`. */
  readonly type: string
  readonly required: boolean
  /** As JSON; absent where there is none or where it says nothing (`false`, an empty list). */
  readonly fallback?: string
  readonly choices?: readonly string[]
  /** `1 to 100`, `at most 200 characters`. */
  readonly limits?: string
  readonly env?: string
  readonly description?: string
}

/** One example: as a command line, and as JSON input where it can be said so. */
export type DocExample = {
  readonly description?: string
  readonly command: string
  /** The same call with its input as one JSON argument; absent where `command` is that already. */
  readonly jsonCommand?: string
  /** What the author says the tool answers. */
  readonly output?: { readonly value: unknown }
}

/** A code that a tool can fail with, and what to do about it. */
export type DocError = {
  readonly code: string
  readonly exit: number
  readonly message: string
  readonly advice: string
  readonly retryable: boolean
}

/** One tool as a command of the program. */
export type DocTool = {
  readonly name: string
  /** `prog pr list`, or `prog` for its only tool. */
  readonly command: string
  /** `<pattern> --sort <name|size> [options]`. */
  readonly usage: string
  readonly summary: string
  readonly description?: string
  readonly parameters: readonly DocParameter[]
  readonly examples: readonly DocExample[]
  readonly errors: readonly DocError[]
  /** What the result is, in the manner of TypeScript. */
  readonly result?: string
  readonly readOnly: boolean
  readonly destructive: boolean
  readonly idempotent: boolean
  readonly dryRun: boolean
  readonly streaming: boolean
  readonly session: boolean
  /** Seconds. */
  readonly timeout?: number
}

/** Tools that belong together: by their first tag, else by their group of commands. The title of the rest is empty. */
export type DocGroup = {
  readonly title: string
  readonly slug: string
  readonly tools: readonly DocTool[]
}

/** Everything that documents say about a program. */
export type DocModel = {
  readonly name: string
  readonly version: string
  readonly description?: string
  /** The program is its only tool: no command stands before the arguments. */
  readonly single: boolean
  readonly tools: readonly DocTool[]
  readonly groups: readonly DocGroup[]
  readonly tags: readonly string[]
  readonly resources: readonly ResourceManifest[]
  readonly prompts: readonly PromptManifest[]
  /** Only these tools of the program are shown, where not all are. */
  readonly only?: readonly string[]
  /** It is shown and never written to a file, so that nothing says how to renew it. */
  readonly unmarked?: true
}
