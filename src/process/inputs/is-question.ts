import { isObject } from '../../contract/json.ts'
import type { JsonSchema } from '../../contract/json.ts'

const QUESTIONS = [
  '--help',
  '-h',
  '--version',
  '-V',
  '--selftest',
  '--describe',
  '--discover',
  '--manifest',
  '--schema',
  '--tools',
]

/** Whether arguments only ask about a tool, so that nothing is missing and no work is done: one of the words that programs know, or one of the lists in `free`. A field of that name is no question. */
export function isQuestion(
  args: readonly string[],
  schema: JsonSchema | undefined,
  free: readonly (readonly string[])[] = [],
): boolean {
  const [word] = args
  const properties = isObject(schema?.['properties']) ? schema['properties'] : {}
  return (
    (args.length === 1 &&
      QUESTIONS.includes(word!) &&
      !Object.hasOwn(properties, word!.slice(2))) ||
    free.some(
      (one) => one.length === args.length && one.every((each, index) => each === args[index]),
    )
  )
}
