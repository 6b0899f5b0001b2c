import { closest } from '../../contract/did-you-mean.ts'
import type { KeyPath } from '../../contract/documents/document.ts'
import { shorten } from '../../contract/shorten.ts'
import { unknownName } from '../../contract/unknown-name.ts'
import { shown } from './definition-reader.ts'
import type { DefinitionReader } from './definition-reader.ts'
import { BASE_KEYS, STEP_FORMS } from './keys.ts'
import type { StepForm } from './keys.ts'
import type { Given } from './kinds/kind.ts'

const TYPES = [...new Set(STEP_FORMS.map(({ type }) => type))]

/** The form in which a step is written; notes why it is none of them, and every key that does not belong there. */
export function findForm(
  reader: DefinitionReader,
  given: Given,
  path: KeyPath,
): StepForm | undefined {
  const { type } = given
  const forms =
    type === undefined
      ? STEP_FORMS.filter(({ implied }) => implied)
      : STEP_FORMS.filter((form) => form.type === type)
  if (forms.length === 0)
    return reader.find(
      [...path, 'type'],
      typeof type === 'string'
        ? unknownName('step kind', type, TYPES).message
        : `'type' must be the kind of a step; got ${shown(type)}`,
      `The kinds are ${TYPES.join(', ')}`,
    )
  const marked = forms.filter(({ mark }) => given[mark] !== undefined)
  const where = type === undefined ? 'a step' : `a step of the kind ${shorten(String(type), 40)}`
  if (marked.length === 0) {
    const marks = forms.map(({ mark }) => mark)
    const keys = [...Object.keys(BASE_KEYS), ...forms.flatMap((form) => Object.keys(form.keys))]
    // A key that is misspelt says more than that it is missing.
    if (!Object.keys(given).some((key) => !keys.includes(key) && closest(key, marks) !== undefined))
      reader.find(
        path,
        `${where} needs ${marks.length === 1 ? '' : 'one of '}${marks.map((mark) => `'${mark}'`).join(', ')}`,
      )
    reader.knownKeys(given, keys, path, where)
    return undefined
  }
  if (marked.length > 1)
    return reader.find(
      [...path, marked[1]!.mark],
      `a step has either '${marked[0]!.mark}' or '${marked[1]!.mark}'`,
      'Make two steps of it',
    )
  const [form] = marked as [StepForm]
  reader.knownKeys(
    given,
    [...Object.keys(BASE_KEYS), ...Object.keys(form.keys)],
    path,
    `a step with '${form.mark}'`,
  )
  const missing = form.required.find((key) => given[key] === undefined)
  return missing === undefined
    ? form
    : reader.find(path, `a step with '${form.mark}' needs '${missing}'`)
}
