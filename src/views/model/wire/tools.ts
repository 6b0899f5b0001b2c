import type { JsonObject, JsonSchema } from '../../../contract/json.ts'
import type { RunRow } from './run-row.ts'

/** A tool in the list. */
export type ToolRow = {
  readonly id: string
  readonly name: string
  readonly summary: string
  readonly source: string
  /** How it was found: 'fractalic manifest', 'mcp server' ... */
  readonly kind: string
  readonly tier: string
  readonly version?: string
  readonly location?: string
  readonly tags: readonly string[]
  readonly shadowed_by?: string
  readonly destructive?: true
  readonly readonly?: true
  /** What it may do, in words: `read src/**`, `egress api.example.com:443`; absent where nobody has said. */
  readonly permissions?: readonly string[]
  readonly health: { readonly state: 'ok' | 'warning' | 'broken'; readonly reason?: string }
  /** Runs of the last seven days, the oldest first. */
  readonly week: readonly { readonly ok: number; readonly failed: number }[]
  readonly runs: number
  readonly p50_s?: number
}

/** Something that is no tool, or a tool with something wrong about it. */
export type ToolProblem = {
  readonly source: string
  readonly location: string
  readonly reason: string
  readonly message: string
  readonly fix: string
  readonly severity: 'error' | 'warning'
}

export type ToolList = {
  readonly tools: readonly ToolRow[]
  readonly problems: readonly ToolProblem[]
  readonly sources: readonly {
    readonly name: string
    readonly kind: string
    readonly location: string
    readonly tools: number
    readonly problems: number
  }[]
}

/** One tool in its four forms. */
export type ToolDetail = {
  readonly row: ToolRow
  readonly description?: string
  readonly help: string
  readonly input_schema: JsonSchema
  readonly output_schema?: JsonSchema
  readonly mcp: JsonObject
  readonly skill: string
  readonly examples: readonly {
    readonly description?: string
    readonly input?: JsonObject
    readonly args?: readonly string[]
  }[]
  readonly errors: readonly { readonly code: string; readonly description?: string }[]
  readonly permissions?: unknown
  readonly notes: readonly string[]
  readonly dry_run: boolean
  readonly destructive: boolean
  readonly recent: readonly RunRow[]
}

/** What an input would mean, before anything is run. */
export type Preview = {
  readonly ok: boolean
  readonly problems: readonly { readonly path: string; readonly message: string }[]
  /** The equal command line. */ readonly command: string
  readonly json: string
}
