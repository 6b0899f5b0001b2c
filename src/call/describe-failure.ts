import type { DeclaredError } from '../contract/errors.ts'
import type { ErrorObject } from '../contract/outcome.ts'
import { ToolError } from '../contract/tool-error.ts'
import { toToolError } from './failure.ts'
import { toJsonValue } from './json-value.ts'

/** A failure in both forms: the error for callers in this process, and what travels. */
export type Described = { readonly error: ToolError; readonly object: ErrorObject }

/** Whatever was thrown, completed from the tool's own table of codes. Never throws. */
export function describeFailure(
  thrown: unknown,
  declared: { readonly [code: string]: DeclaredError } = {},
  tool?: string,
): Described {
  try {
    const error = nameMistake(toToolError(thrown), tool).completeFrom(declared)
    return { error, object: toJsonError(error.toObject()) }
  } catch {
    // A frozen error, or a class of the author's that overrides too much.
    const error = new ToolError('INTERNAL', 'the tool threw something that cannot be shown', {
      cause: thrown,
    })
    return { error, object: error.toObject() }
  }
}

// A mistake in the code of a tool says nothing about what it did: `x is not a function` needs at least the name.
function nameMistake(error: ToolError, tool: string | undefined): ToolError {
  if (tool === undefined || error.code !== 'INTERNAL' || error.details?.['name'] !== 'TypeError')
    return error
  return new ToolError(
    'INTERNAL',
    `Tool '${tool}' raised TypeError${error.message === 'TypeError' ? '' : `: ${error.message}`}`,
    { details: error.details, cause: error.cause },
  )
}

function toJsonError(error: ErrorObject): ErrorObject {
  const { suggestion, details } = error
  return {
    ...error,
    ...(suggestion?.input && {
      suggestion: { ...suggestion, input: toJsonFields(suggestion.input) },
    }),
    ...(details && { details: toJsonFields(details) }),
  }
}

// What JSON cannot carry must not cost the rest of what is known about a failure.
function toJsonFields(fields: { readonly [key: string]: unknown }): {
  readonly [key: string]: unknown
} {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, field]) => {
      try {
        return field === undefined ? [] : [[key, toJsonValue(field).value]]
      } catch {
        return [[key, '[cannot be shown as JSON]']]
      }
    }),
  )
}
