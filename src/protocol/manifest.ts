/**
 * Manifests: everything that can be said about a tool, resource, prompt or toolset without running
 * it.
 */

import type { JsonSchema } from '../util/values.ts'
import { compact } from '../util/values.ts'
import type { DeclaredError } from './errors.ts'
import type { Duration } from './limits.ts'

/** Hints about behaviour. Absent means unknown, not false. */
export type Annotations = {
  readonly readOnly?: boolean
  readonly destructive?: boolean
  readonly idempotent?: boolean
  readonly openWorld?: boolean
}

/** Annotations as MCP names them. */
export type AnnotationHints = {
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** The annotations of a tool as MCP names them. */
export function toAnnotationHints({
  readOnly,
  destructive,
  idempotent,
  openWorld,
}: Annotations): AnnotationHints {
  return compact({
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: idempotent,
    openWorldHint: openWorld,
  })
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
