import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import { isObject, parseObject } from '../../contract/json.ts'
import { checkValue } from './check-value.ts'
import { directionOf, isPathField, kindOf } from './direction.ts'
import { findInputs, refuseMissing } from './find-inputs.ts'
import { isQuestion } from './is-question.ts'
import type { PlacedOutput, StagedOutput } from './place-outputs.ts'
import { placeOutputs } from './place-outputs.ts'
import { takePath } from './take-path.ts'
import type { PathSurroundings } from './take-path.ts'

/** What has to happen around a run for the paths that its tool is given. */
export type PathWork = {
  /** Files and folders that the tool has to see, without links. */
  readonly readable: readonly string[]
  readonly outputs: readonly StagedOutput[]
  /** What the tool gets to read, as it is or as a copy. */
  readonly sources: readonly string[]
  /** After a success: puts every output into its place, all or nothing. Throws INVALID_PATH, PERMISSION or DISK_FULL. */
  place(): Promise<readonly PlacedOutput[]>
}

/** How the arguments of a tool are understood. */
export type ArgumentRules = PathSurroundings & {
  /** Fields that may stand without their flag, in their order. */
  readonly positional?: readonly string[]
  /** Whole lists of arguments that are no work: `health.selftest` of a manifest. */
  readonly free?: readonly (readonly string[])[]
}

/** Checks the declared inputs among the arguments of a tool and gives their paths a meaning; everything else stays as it is. Throws MISSING_PARAM, INVALID_INPUT or INVALID_PATH before anything is started. */
export async function preparePaths(
  args: readonly string[],
  schema: JsonSchema | undefined,
  rules: ArgumentRules,
): Promise<PathWork & { readonly args: readonly string[] }> {
  if (schema === undefined || isQuestion(args, schema, rules.free)) return { args, ...workOf([]) }
  const properties = propertiesOf(schema)
  const [first = '', ...others] = args
  // Behind a whole input there may stand flags that are no fields: --yes.
  const whole =
    first.startsWith('{') &&
    others.every(
      (word) =>
        /^--[^=]+$/.test(word) && !Object.hasOwn(properties, word.slice(2).replaceAll('-', '_')),
    )
      ? parseObject(first)
      : undefined
  if (whole) {
    const { input, ...work } = await prepareInput(whole, schema, rules)
    return { args: input === whole ? args : [JSON.stringify(input), ...others], ...work }
  }
  const { found, prepared } = findInputs(args, properties, rules.positional ?? [])
  refuseMissing(schema, (field) => found.some((one) => one.field === field), args)
  for (const { field, text } of found) checkValue(field, properties[field]!, text)
  const take = takePaths(properties, rules)
  for (const { field, text, put } of found) if (text !== undefined) await take(field, text, put)
  return { args: prepared, ...workOf(take.taken) }
}

/** The same for a tool that takes its input as an object; its values were checked by its schema already. The very object comes back where it holds no path. */
export async function prepareInput(
  input: JsonObject,
  schema: JsonSchema,
  rules: PathSurroundings,
): Promise<PathWork & { readonly input: JsonObject }> {
  refuseMissing(schema, (field) => Object.hasOwn(input, field))
  const changed: { [field: string]: unknown } = {}
  const take = takePaths(propertiesOf(schema), rules)
  for (const [field, value] of Object.entries(input)) {
    if (typeof value === 'string')
      await take(field, value, (text) => {
        changed[field] = text
      })
    if (!Array.isArray(value)) continue
    const list: unknown[] = [...value]
    for (const [index, item] of list.entries())
      if (typeof item === 'string')
        await take(field, item, (text) => {
          changed[field] = list
          list[index] = text
        })
  }
  return {
    input: Object.keys(changed).length === 0 ? input : { ...input, ...changed },
    ...workOf(take.taken),
  }
}

type Taken = Awaited<ReturnType<typeof takePath>>
type Take = {
  (field: string, text: string, put: (text: string) => void): Promise<void>
  readonly taken: readonly Taken[]
}

function takePaths(
  properties: { readonly [field: string]: JsonSchema },
  rules: PathSurroundings,
): Take {
  const taken: Taken[] = []
  const counts = new Map<string, number>()
  const take = async (field: string, text: string, put: (text: string) => void): Promise<void> => {
    const property = Object.hasOwn(properties, field) ? properties[field]! : {}
    if (!isPathField(property)) return
    const index = counts.get(field) ?? 0
    counts.set(field, index + 1)
    const one = await takePath(
      { field, index, text, direction: directionOf(field, property), kind: kindOf(property) },
      rules,
    )
    taken.push(one)
    put(one.text)
  }
  return Object.assign(take, { taken })
}

function workOf(taken: readonly Taken[]): PathWork {
  const outputs = taken.flatMap(({ output }) => output ?? [])
  return {
    readable: [...new Set(taken.flatMap(({ readable }) => readable))],
    outputs,
    sources: taken.flatMap(({ source }) => source ?? []),
    place: () => placeOutputs(outputs),
  }
}

function propertiesOf(schema: JsonSchema): { readonly [field: string]: JsonSchema } {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  return Object.fromEntries(
    Object.entries(properties).map(([field, property]) => [
      field,
      isObject(property) ? property : {},
    ]),
  )
}
