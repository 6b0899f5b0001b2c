import { isObject } from '../../contract/json.ts'
import { TIERS } from '../found.ts'
import type { ForeignFacts, Tier } from '../found.ts'
import type { ChildCall } from '../child/child-call.ts'
import type { Runner } from '../manifests/manifest.ts'
import { summaryOf } from '../foreign/summary.ts'

/** What a list shows of a tool: name, summary, tags. */
export type ListedTool = readonly [name: string, summary: string, tags: readonly string[]]

/** What is known of a candidate, short: enough to list it. */
export type Outline = {
  /** Milliseconds of the wall clock after which it is asked again; absent: when it changes. */
  readonly until?: number
  /** What it was asked through; another interpreter is another answer. */
  readonly through?: string
} & (
  | {
      readonly is: 'tools'
      readonly how: string
      readonly tier: Tier
      readonly version?: string
      readonly tools: readonly ListedTool[]
      readonly warnings?: readonly Trouble[]
      /** It has resources or prompts. */ readonly more?: true
    }
  | {
      readonly is: 'manifest'
      readonly how: string
      readonly version?: string
      readonly tools: readonly [ListedTool]
      readonly entry?: string
      readonly runner?: Runner
      readonly server?: true
    }
  | ({ readonly is: 'problem' } & Trouble)
  | { readonly is: 'error-codes' }
  | { readonly is: 'nothing' }
)

/** What is wrong with a candidate. */
export type Trouble = { readonly reason: string; readonly message: string; readonly fix: string }

/** A tool of another process, whole: what the body of a record holds. */
export type WholeTool = {
  readonly name: string
  readonly facts: ForeignFacts
  readonly call: ChildCall
}

/** How a tool is listed. */
export function listTool(name: string, facts: ForeignFacts): ListedTool {
  return [name, summaryOf(name, facts), facts.tags ?? []]
}

/** The outline that a remembered line has; undefined where it has none, because somebody else wrote it. */
export function readOutline(data: { readonly [key: string]: unknown }): Outline | undefined {
  if (data['until'] !== undefined && typeof data['until'] !== 'number') return undefined
  switch (data['is']) {
    case 'tools':
      return isText(data['how']) &&
        (TIERS as readonly unknown[]).includes(data['tier']) &&
        areListed(data['tools']) &&
        (data['warnings'] === undefined || areTroubles(data['warnings']))
        ? (data as Outline)
        : undefined
    case 'manifest':
      return isText(data['how']) &&
        areListed(data['tools']) &&
        data['tools'].length === 1 &&
        (data['entry'] === undefined || isText(data['entry']))
        ? (data as Outline)
        : undefined
    case 'problem':
      return areTroubles([data]) ? (data as Outline) : undefined
    case 'error-codes':
    case 'nothing':
      return data as Outline
    default:
      return undefined
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function areListed(value: unknown): value is readonly ListedTool[] {
  return (
    Array.isArray(value) &&
    value.every(
      (tool) => Array.isArray(tool) && isText(tool[0]) && isText(tool[1]) && Array.isArray(tool[2]),
    )
  )
}

function areTroubles(value: unknown): value is readonly Trouble[] {
  return (
    Array.isArray(value) &&
    value.every(
      (trouble) =>
        isObject(trouble) &&
        isText(trouble['reason']) &&
        isText(trouble['message']) &&
        isText(trouble['fix']),
    )
  )
}
