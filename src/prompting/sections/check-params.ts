import { isObject } from '../../contract/json.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { unknownName } from '../../contract/unknown-name.ts'
import { compileSchema } from '../../define/schema/compile.ts'
import { issuesToError } from '../../define/schema/issues.ts'
import type { LazySchema, Schema } from '../../define/schema/schema.ts'
import { resolveSchema } from '../../define/schema/source.ts'
import { declaredNames } from './declared-params.ts'
import { nameFailure, named } from './section.ts'
import type { SectionDefinition } from './section-type.ts'
import { checkPlaces } from './tree.ts'
import type { PromptParts } from './tree.ts'

/** The params of a prompt, ready to be checked: its own under `top`, the others by section. */
export type CompiledParams = {
  readonly top: Schema | undefined
  readonly of: ReadonlyMap<SectionDefinition, Schema>
}

const compiled = new WeakMap<PromptParts, CompiledParams>()

/** Compiles the params of a prompt, once, and checks the places in texts for them; throws CONFIG with the place. */
export function compileParams(parts: PromptParts): CompiledParams {
  const known = compiled.get(parts)
  if (known) return known
  const top = compile(`the params of prompt '${parts.name}'`, parts.params)
  const of = new Map(
    [...parts.placed.values()].flatMap(({ section, path }) => {
      const schema = compile(
        `the params of section '${path}' of prompt '${parts.name}'`,
        section.params,
      )
      return schema ? [[section, schema] as const] : []
    }),
  )
  named(`prompt '${parts.name}'`, () =>
    checkPlaces(
      parts.placed.values(),
      top?.json ?? null,
      (section) => of.get(section)?.json ?? null,
    ),
  )
  const made = { top, of }
  compiled.set(parts, made)
  return made
}

/** What each section sees of the params: its own, those of its parents, those of the prompt. */
export type SeenParams = ReadonlyMap<SectionDefinition, unknown>

/** Checks what was given for a prompt. Each schema takes the params that it declares; throws INVALID_INPUT or MISSING_PARAM, naming the section. */
export async function checkParams(parts: PromptParts, given: unknown): Promise<SeenParams> {
  const what = `prompt '${parts.name}'`
  if (given !== undefined && !isObject(given))
    throw new ToolError('INVALID_INPUT', `the params of ${what} must be an object`, {
      suggestion: 'Give { name: value }',
    })
  const { top, of } = compileParams(parts)
  const values = given ?? {}
  refuseUnknown(what, values, [...(top ? [top] : []), ...of.values()])
  const above = top ? await check(what, top, values) : {}
  const seen = new Map<SectionDefinition, unknown>()
  for (const { section, path, parent } of parts.placed.values()) {
    const outer = parent ? seen.get(parent.section) : above
    const schema = of.get(section)
    seen.set(
      section,
      schema ? joined(outer, await check(`section '${path}' of ${what}`, schema, values)) : outer,
    )
  }
  return seen
}

function compile(what: string, params: LazySchema | undefined): Schema | undefined {
  return params === undefined
    ? undefined
    : named(what, () => compileSchema(resolveSchema(params), 'input'))
}

async function check(
  what: string,
  schema: Schema,
  given: { readonly [name: string]: unknown },
): Promise<unknown> {
  const names = declaredNames(schema.json)
  const own =
    names === undefined
      ? given
      : Object.fromEntries(
          names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]),
        )
  const checked = await schema.check(own)
  if (checked.ok) return checked.value
  throw nameFailure(what, issuesToError(checked.issues, { what: 'params', input: own }))
}

function refuseUnknown(what: string, given: object, schemas: readonly Schema[]): void {
  const declared = schemas.map(({ json }) => declaredNames(json))
  if (declared.includes(undefined)) return
  const names = [...new Set(declared.flatMap((each) => each ?? []))]
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown === undefined) return
  const { message, meant } = unknownName('param', unknown, names)
  throw new ToolError('INVALID_INPUT', `${what}: ${message}`, {
    field: unknown,
    suggestion: meant ? `Rename ${unknown} to ${meant}` : `Remove ${unknown}`,
  })
}

function joined(outer: unknown, own: unknown): unknown {
  return isObject(own) && isObject(outer) && Object.keys(outer).length > 0
    ? { ...outer, ...own }
    : own
}
