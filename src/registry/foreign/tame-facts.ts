import { isObject } from '../../contract/json.ts'
import type { DeclaredError } from '../../contract/errors.ts'
import type { Annotations, Example, McpOptions, Permissions } from '../../contract/manifest.ts'
import { findMisfit } from '../../define/early/misfit.ts'
import { checkMcpOptions } from '../../define/mcp-options.ts'
import type { JsonSchema } from '../../contract/json.ts'
import { cleanText } from './clean-text.ts'

const LONGEST_DESCRIPTION = 16_000
const MOST = 100
const CATEGORIES: readonly unknown[] = ['input', 'auth', 'state', 'runtime', 'internal']
const HINTS = ['readOnly', 'destructive', 'idempotent', 'openWorld'] as const

type Given = { readonly [fact: string]: unknown }

/** Everything but schemas and flags that somebody says about a tool of theirs, as far as it can be used. What is of the wrong kind is left out. */
export function tameFacts(given: Given, input: JsonSchema) {
  const title = cleanText(given['title'], 200)
  const description = cleanText(given['description'], LONGEST_DESCRIPTION)
  const { timeout, permissions } = given
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...flagsOf(given, ['dryRun', 'streaming', 'session']),
    ...(typeof timeout === 'number' && timeout > 0 && timeout <= 7 * 86_400 && { timeout }),
    ...(isObject(permissions) && { permissions: permissions as Permissions }),
    tags: textsOf(given['tags']),
    annotations: annotationsOf(given['annotations']),
    examples: examplesOf(given['examples'], input),
    errors: errorsOf(given['errors']),
    ...mcpOf(given['mcp']),
  }
}

function flagsOf(
  given: Given,
  names: readonly ('dryRun' | 'streaming' | 'session')[],
): { readonly dryRun?: boolean; readonly streaming?: boolean; readonly session?: boolean } {
  return Object.fromEntries(
    names.filter((name) => typeof given[name] === 'boolean').map((name) => [name, given[name]]),
  )
}

function textsOf(given: unknown): string[] {
  const texts = Array.isArray(given) ? given.slice(0, MOST).map((tag) => cleanText(tag, 100)) : []
  return [...new Set(texts.filter((text) => text !== undefined))]
}

function annotationsOf(given: unknown): Annotations {
  return isObject(given)
    ? Object.fromEntries(
        HINTS.filter((hint) => typeof given[hint] === 'boolean').map((hint) => [hint, given[hint]]),
      )
    : {}
}

function examplesOf(given: unknown, schema: JsonSchema): Example[] {
  return (Array.isArray(given) ? given.slice(0, MOST) : []).flatMap(
    (example: unknown): Example[] => {
      if (!isObject(example)) return []
      const { input, args, output } = example
      const description = cleanText(example['description'], 500)
      const isFit = isObject(input)
        ? findMisfit(schema, input) === undefined
        : input === undefined && Array.isArray(args) && args.every((arg) => typeof arg === 'string')
      if (!isFit) return []
      return [
        {
          ...(description !== undefined && { description }),
          ...(isObject(input) ? { input } : { args: args as string[] }),
          ...(output !== undefined && { output }),
        },
      ]
    },
  )
}

function errorsOf(given: unknown): { readonly [code: string]: DeclaredError } {
  const members = isObject(given) ? Object.entries(given).slice(0, MOST) : []
  return Object.fromEntries(
    members.flatMap(([code, declared]): [string, DeclaredError][] => {
      const own = isObject(declared) ? declared : { message: declared }
      const message = cleanText(own['message'], 1000)
      if (!/^[A-Z][A-Z0-9_]{0,63}$/.test(code) || message === undefined) return []
      const { category, recoverable, retryable } = own as Given
      return [
        [
          code,
          {
            message,
            ...(CATEGORIES.includes(category) && {
              category: category as NonNullable<DeclaredError['category']>,
            }),
            ...(typeof recoverable === 'boolean' && { recoverable }),
            ...(typeof retryable === 'boolean' && { retryable }),
          },
        ],
      ]
    }),
  )
}

function mcpOf(given: unknown): { readonly mcp?: McpOptions } {
  try {
    if (given === undefined) return {}
    checkMcpOptions('', given)
    return { mcp: given }
  } catch {
    return {}
  }
}
