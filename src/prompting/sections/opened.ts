import { isObject } from '../../contract/json.ts'
import type { Slice, State } from '../../contract/state.ts'
import { ToolError } from '../../contract/tool-error.ts'
import { unknownName } from '../../contract/unknown-name.ts'
import { lookupKey } from '../../define/names.ts'
import type { Placed, PromptParts } from './tree.ts'

type Opened = { readonly prompt: string; readonly section: string }

/** Where the state remembers which sections were opened. */
export const openedSections: Slice<Opened> = {
  key: 'toolable.opened_sections',
  kind: 'state',
  by: ({ prompt, section }) => `${prompt}/${section}`,
  read(value) {
    if (
      isObject(value) &&
      typeof value['prompt'] === 'string' &&
      typeof value['section'] === 'string'
    )
      return { prompt: value['prompt'], section: value['section'] }
    throw new ToolError('CONFIG', 'an opened section is remembered as { prompt, section }')
  },
}

/** The keys of the sections of a prompt that a state has as open. */
export function openedIn(state: State | undefined, prompt: string): readonly string[] {
  return state === undefined
    ? []
    : state
        .get(openedSections)
        .where((opened) => opened.prompt === prompt)
        .map(({ section }) => section)
}

/** Remembers sections of a prompt as open; gives the keys of those that were not. Throws NOT_FOUND for unknown keys. */
export function openIn(
  state: State,
  { name, placed }: Pick<PromptParts, 'name' | 'placed'>,
  wanted: readonly string[] | ToolError,
): readonly string[] {
  const before = new Set(openedIn(state, name))
  const opened = [
    ...new Set(findSections(placed, keysOf(wanted)).map(({ section }) => section.key)),
  ].filter((key) => !before.has(key))
  for (const section of opened) state.get(openedSections).upsert({ prompt: name, section })
  return opened
}

/** The keys that are wanted, also where an error names them. */
function keysOf(wanted: readonly string[] | ToolError): readonly string[] {
  const keys: unknown = ToolError.is(wanted) ? wanted.details?.['keys'] : wanted
  if (Array.isArray(keys)) return keys as readonly string[]
  throw new ToolError(
    'INVALID_INPUT',
    'open() takes the keys of sections, or the E_VISIBILITY_EXPANSION that names them',
  )
}

/** The sections of the keys; throws NOT_FOUND for a key that none has. */
export function findSections(
  placed: ReadonlyMap<string, Placed>,
  keys: readonly string[],
): readonly Placed[] {
  return keys.map(
    (key) =>
      placed.get(lookupKey(String(key))) ??
      refuse(
        String(key),
        [...placed.values()].map(({ section }) => section.key),
      ),
  )
}

/** Throws NOT_FOUND with the key that was probably meant. */
export function refuse(key: string, keys: readonly string[]): never {
  const { message, meant } = unknownName('section', key, keys)
  throw new ToolError('NOT_FOUND', message, {
    details: { sections: keys.slice(0, 50) },
    suggestion: meant
      ? `Use '${meant}'`
      : keys.length > 0
        ? `The sections are ${keys.slice(0, 20).join(', ')}`
        : 'There is no section to open',
  })
}
