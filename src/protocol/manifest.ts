/**
 * Manifests: everything that can be said about a tool, resource, prompt or toolset without running
 * it; and the exit statuses as the orchestration manifest names them.
 */

import type { JsonSchema } from '../util/values.ts'
import type { DeclaredError } from './errors.ts'
import type { Duration } from './limits.ts'

/** Hints about behaviour. Absent means unknown, not false. */
export type Annotations = {
  readonly readOnly?: boolean
  readonly destructive?: boolean
  readonly idempotent?: boolean
  readonly openWorld?: boolean
}

/** An example call, as input or as a command line. */
export type Example = {
  readonly description?: string
  readonly input?: { readonly [field: string]: unknown }
  readonly args?: readonly string[]
  readonly output?: unknown
}

/** What a tool may touch. The short forms of the specification are accepted too. */
export type Permissions = {
  readonly filesystem?:
    | 'none'
    | 'read'
    | 'read-only'
    | 'read-write'
    | { readonly read?: readonly string[]; readonly write?: readonly string[] }
  readonly network?: 'none' | 'full' | { readonly egress_allow?: readonly string[] }
  readonly [other: string]: unknown
}

/** How one input field appears on the command line. */
export type FlagOptions = {
  readonly name?: string
  readonly short?: string
  readonly env?: string
  readonly hidden?: boolean
}

/** What an MCP server does with a tool besides listing and calling it. */
export type McpOptions = {
  /**
   * Whether a call may or must run as a task that outlives its request, for clients that know
   * tasks; default `auto`: what takes longer than `taskAfter` becomes one.
   */
  readonly task?: 'never' | 'auto' | 'required'
  /**
   * How long the client waits for the result before it gets a task; default 2 seconds, 0 is at
   * once.
   */
  readonly taskAfter?: Duration
  /**
   * Whether the result is also written as text, for clients that read no structured results;
   * default true.
   */
  readonly text?: boolean
  /** Goes into `_meta` of the listed tool as it is. */
  readonly meta?: { readonly [key: string]: unknown }
}

/**
 * Everything that can be said about a tool without running it. `--discover`, `--manifest`,
 * `--schema`, `--describe`, MCP and provider forms are projections of it.
 */
export type ToolManifest = {
  readonly name: string
  readonly title?: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly streaming: boolean
  readonly session: boolean
  /** Self-contained: no `$ref` leaves the document. */
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations: Annotations
  readonly examples: readonly Example[]
  readonly errors: { readonly [code: string]: DeclaredError }
  readonly positional: readonly string[]
  readonly flags: { readonly [field: string]: FlagOptions }
  /** Seconds. */
  readonly timeout?: number
  readonly dryRun: boolean
  readonly permissions?: Permissions
  readonly mcp?: McpOptions
}

/** Everything about a tool that is known without its schemas. */
export type ToolMetadata = Omit<ToolManifest, 'inputSchema' | 'outputSchema'>

export type ResourceManifest = {
  readonly uri: string
  readonly name?: string
  readonly title?: string
  readonly summary: string
  readonly mimeTypes: readonly string[]
  readonly tags: readonly string[]
}

export type PromptArgument = {
  readonly name: string
  readonly description?: string
  readonly required: boolean
}

export type PromptManifest = {
  readonly name: string
  readonly title?: string
  readonly summary: string
  readonly arguments: readonly PromptArgument[]
  readonly tags: readonly string[]
}

export type ToolsetManifest = {
  readonly name: string
  readonly version: string
  readonly description?: string
  readonly permissions?: Permissions
  readonly tools: readonly (ToolManifest & { readonly path: readonly string[] })[]
  readonly resources: readonly ResourceManifest[]
  readonly prompts: readonly PromptManifest[]
}

/** A toolset without its schemas: what discovery shows. */
export type ToolsetOutline = Omit<ToolsetManifest, 'tools'> & {
  readonly tools: readonly ToolMetadata[]
}

/**
 * Every exit status of a program of ours: its name in the orchestration manifest, after sysexits,
 * and its meaning in a word or two.
 */
export const EXIT_STATUSES = [
  { status: 0, name: 'ok', meaning: 'success' },
  { status: 1, name: 'fatal_error', meaning: 'failed' },
  { status: 2, name: 'usage_error', meaning: 'wrong arguments' },
  { status: 64, name: 'syntax_error', meaning: 'unreadable arguments' },
  { status: 65, name: 'data_error', meaning: 'wrong JSON input' },
  { status: 66, name: 'no_input', meaning: 'not found' },
  { status: 69, name: 'unavailable', meaning: 'unavailable' },
  { status: 73, name: 'cannot_create', meaning: 'conflict or full disk' },
  { status: 75, name: 'retryable_error', meaning: 'try again later' },
  { status: 77, name: 'permission_denied', meaning: 'not allowed or not confirmed' },
  { status: 78, name: 'config_error', meaning: 'wrong configuration' },
  { status: 124, name: 'timeout', meaning: 'out of time' },
  { status: 129, name: 'hung_up', meaning: 'hung up' },
  { status: 130, name: 'cancelled', meaning: 'interrupted' },
  { status: 143, name: 'terminated', meaning: 'terminated' },
] as const
