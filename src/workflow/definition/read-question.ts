import type { KeyPath } from '../../contract/documents/document.ts'
import type { InteractionOption } from '../../contract/interaction.ts'
import { isObject } from '../../contract/json.ts'
import { shown } from './definition-reader.ts'
import type { DefinitionReader } from './definition-reader.ts'
import type { Use } from './draft.ts'

const OPTION_KEYS = ['value', 'label', 'description']

/** The choices of a question, a text being its value. */
export function readOptions(
  reader: DefinitionReader,
  value: unknown,
  path: KeyPath,
): { readonly options: readonly InteractionOption[]; readonly uses: readonly Use[] } {
  if (!Array.isArray(value)) {
    reader.find(path, `'options' must be a list; got ${shown(value)}`)
    return { options: [], uses: [] }
  }
  const read = value.map((option: unknown, index) => readOption(reader, option, [...path, index]))
  return {
    options: read.flatMap(({ option }) => option ?? []),
    uses: read.flatMap(({ uses }) => uses),
  }
}

function readOption(
  reader: DefinitionReader,
  given: unknown,
  path: KeyPath,
): { readonly option?: InteractionOption; readonly uses: readonly Use[] } {
  const option = typeof given === 'string' ? { value: given } : given
  if (!isObject(option)) {
    reader.find(path, `an option must be a text or an object; got ${shown(given)}`)
    return { uses: [] }
  }
  reader.knownKeys(option, OPTION_KEYS, path, 'an option')
  for (const key of OPTION_KEYS) {
    if (
      (key === 'value' || option[key] !== undefined) &&
      (typeof option[key] !== 'string' || (key === 'value' && option[key] === ''))
    )
      reader.find([...path, key], `'${key}' of an option must be a text; got ${shown(option[key])}`)
  }
  const { value, uses } = reader.value(option, path)
  return { option: value as InteractionOption, uses }
}
