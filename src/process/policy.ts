/**
 * A policy limits what any tool may do. Every layer has to agree, so no policy can widen another.
 * load-policies.ts finds the files, policy-file.ts parses them, policy-check.ts applies them.
 */

import type { DocumentPosition, KeyPath } from '../protocol/documents.ts'
import type { Json } from '../util/values.ts'
import type { IsolationLevel, LimitName } from './grants.ts'

/** The most that one part of one policy lets any tool have. What is absent is not limited by it. */
export type PolicyRules = {
  readonly minLevel?: IsolationLevel
  readonly allowLevelOverride?: boolean
  readonly requirePermissions?: boolean
  /** Folders and files, absolute; each means everything in it. */
  readonly read?: readonly string[]
  readonly write?: readonly string[]
  readonly network?: NetworkRules
  readonly limits?: { readonly [name in LimitName]?: number }
  readonly secrets?: readonly string[]
}

/**
 * `open`: any server at all. `servers`: `host:port`, where the host may begin with `*.` or be `*`,
 * and the port may be `*`. `local`: servers of this machine.
 */
export type NetworkRules = {
  readonly open: boolean
  readonly servers: readonly string[]
  readonly local: readonly string[]
}

/** One part of a policy file: its rules for all tools, or for those whose id fits a pattern. */
export type PolicyLayer = {
  readonly rules: PolicyRules
  /** Absent: for all tools. */
  readonly pattern?: string
  readonly file: string
  /** The keys that lead to this part. */
  readonly path: KeyPath
  /** Where something stands in the file. */
  locate(path: KeyPath): Promise<DocumentPosition | undefined>
}

/**
 * All that the policies of a machine, of an environment and of a project say. Every layer has to
 * agree, so that none widens another.
 */
export type Policy = {
  readonly layers: readonly PolicyLayer[]
  /**
   * Answers to questions of tools, by key or action; of several policies the first that knows one
   * decides.
   */
  readonly answers: { readonly [keyOrAction: string]: Json }
}

/** No policy at all. */
export const NO_POLICY: Policy = { layers: [], answers: {} }

/** The layers that speak about a tool. */
export function selectLayers({ layers }: Policy, tool: string): readonly PolicyLayer[] {
  return layers.filter(({ pattern }) => pattern === undefined || matchesToolPattern(pattern, tool))
}

/** `file:line` of a key of a layer. */
export async function formatRuleLocation(
  { file, path, locate }: PolicyLayer,
  key: KeyPath,
): Promise<string> {
  const place = await locate([...path, ...key])
  return `${file}${place ? `:${place.line}` : ''}`
}

// `*` is any text; linear, because the pieces between are looked for from left to right.
function matchesToolPattern(pattern: string, tool: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return tool === pattern
  if (!tool.startsWith(first)) return false
  const last = rest.pop()!
  let at = first.length
  for (const piece of rest) {
    const found = tool.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return tool.length - at >= last.length && tool.endsWith(last)
}
