import type { Context } from '../../contract/context.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { isReply } from '../../define/results.ts'
import { toArgument } from '../convert/to-argument.ts'
import { toPlain } from '../convert/to-plain.ts'
import type { FunctionManifest, FunctionParameter } from '../manifest.ts'
import { followYields, iterate } from './follow-yields.ts'

type Fields = { readonly [field: string]: unknown }

/** Calls the function of a manifest with a checked input, and gives a result that JSON can carry, or the generator that comes to it. */
export async function callFunction(
  manifest: FunctionManifest,
  exported: object,
  fields: Fields,
  ctx: Context,
): Promise<unknown> {
  const { owner, member } = findMember(manifest.export, exported)
  const args = makeArguments(manifest, fields, ctx)
  const returned: unknown = await member.apply(owner, args)
  if (manifest.yields) return followYields(iterate(returned), manifest)
  return isReply(returned) ? { ...returned, result: toPlain(returned.result) } : toPlain(returned)
}

type Exported = { readonly [key: string]: unknown }
type AnyFunction = (...args: unknown[]) => unknown

function findMember(
  path: string,
  exported: object,
): { readonly owner: unknown; readonly member: AnyFunction } {
  let owner: unknown
  let member: unknown = exported
  // What CommonJS exports has not always a name of its own: then it is found in the default export.
  const keys = path.split('.')
  for (const key of (exported as Exported)[keys[0]!] === undefined ? ['default', ...keys] : keys) {
    owner = member
    member = (member as Exported | null | undefined)?.[key]
  }
  if (typeof member !== 'function')
    throw new ToolError('CONFIG', `the module exports no function '${path}' any more`, {
      suggestion: 'Its types say that there is one: build them together',
    })
  return { owner: owner === exported ? undefined : owner, member: member as AnyFunction }
}

function makeArguments(
  { parameters, conversions = {} }: FunctionManifest,
  fields: Fields,
  ctx: Context,
): unknown[] {
  const args: unknown[] = []
  // What is not given at the end is not there at all: some functions count their arguments.
  let length = 0
  for (const parameter of parameters) {
    if (parameter.from === 'rest') {
      const rest = pick(fields, parameter.field)
      if (Array.isArray(rest))
        args.push(
          ...rest.map((item, index) =>
            toArgument(item, parameter.convert, conversions, `${parameter.field}.${index}`),
          ),
        )
      return args.slice(0, Array.isArray(rest) && rest.length > 0 ? args.length : length)
    }
    const argument = makeArgument(parameter, fields, ctx, conversions)
    args.push(argument)
    if (argument !== undefined) length = args.length
  }
  return args.slice(0, length)
}

function makeArgument(
  parameter: Exclude<FunctionParameter, { from: 'rest' }>,
  fields: Fields,
  ctx: Context,
  conversions: NonNullable<FunctionManifest['conversions']>,
): unknown {
  switch (parameter.from) {
    case 'field':
      return toArgument(
        pick(fields, parameter.field),
        parameter.convert,
        conversions,
        parameter.field,
      )
    case 'context':
      return ctx
    case 'signal':
      return ctx.signal
    case 'nothing':
      return undefined
    case 'fields': {
      const { signals = [] } = parameter
      const given = parameter.fields.filter(({ field }) => pick(fields, field) !== undefined)
      if (given.length === 0 && parameter.optional && signals.length === 0) return undefined
      return Object.fromEntries([
        ...given.map(({ property, field, convert }): [string, unknown] => [
          property,
          toArgument(pick(fields, field), convert, conversions, field),
        ]),
        ...signals.map((property): [string, unknown] => [property, ctx.signal]),
      ])
    }
  }
}

function pick(fields: Fields, field: string): unknown {
  return Object.hasOwn(fields, field) ? fields[field] : undefined
}
