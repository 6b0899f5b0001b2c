import { alternatives, withNotes } from './alternatives.ts'
import type { Alternative } from './alternatives.ts'
import { ANY, isOpen } from './shape.ts'
import type { Shape } from './shape.ts'

/** The shape of an input as one object without alternatives, because no provider takes a union at the root: every field of every form, and in words which of them belong together. */
export function objectRoot(shape: Shape): Shape {
  const forms = alternatives(shape).filter(
    ({ types }) => types === undefined || types[0] === 'object',
  )
  const [only] = forms
  if (only === undefined) return { ...ANY, types: ['object'], nullable: false, additional: true }
  if (forms.length === 1) {
    const { values: _values, ...object } = withNotes(only, shape)
    return { ...object, types: ['object'], nullable: false }
  }
  const required = new Set(
    [...forms[0]!.required].filter((key) => forms.every((form) => form.required.has(key))),
  )
  const properties = new Map<string, Shape>()
  for (const form of forms)
    for (const [key, inner] of form.properties)
      properties.set(key, either(properties.get(key), inner))
  // Where another form is open, the field may hold anything there.
  for (const [key, { description: words }] of properties)
    if (forms.some((form) => !form.properties.has(key) && isOpen(form)))
      properties.set(key, { ...ANY, ...(words !== undefined && { description: words }) })
  const description = describeForms(shape.description, forms, required)
  return {
    types: ['object'],
    nullable: false,
    properties,
    required,
    limits: {},
    additional: forms.every((form) => form.additional === false)
      ? false
      : forms.some((form) => form.additional !== false && isOpen(form))
        ? true
        : undefined,
    ...(description !== undefined && { description }),
  }
}

function either(first: Shape | undefined, second: Shape): Shape {
  if (first === undefined || first === second) return second
  if (fingerprint(first) === fingerprint(second)) return first
  const description = first.description ?? second.description
  const common = {
    nullable: first.nullable || second.nullable,
    ...(description !== undefined && { description }),
    properties: new Map(),
    required: new Set<string>(),
    additional: undefined,
    limits: {},
  }
  if (first.values && second.values) {
    const types = first.types && second.types && [...new Set([...first.types, ...second.types])]
    return {
      ...common,
      ...(types && { types }),
      values: [...new Set([...first.values, ...second.values])],
    }
  }
  return { ...common, anyOf: [...(first.anyOf ?? [first]), ...(second.anyOf ?? [second])] }
}

function describeForms(
  description: string | undefined,
  forms: readonly Alternative[],
  common: ReadonlySet<string>,
): string | undefined {
  const sets = [
    ...new Set(
      forms.map((form) =>
        [...form.required]
          .filter((key) => !common.has(key))
          .map((key) => nameField(form, key))
          .join(', '),
      ),
    ),
  ]
  if (sets.length < 2) return description
  const choice = `Needs one of these sets of fields: ${sets.map((set) => `{${set}}`).join(' or ')}.`
  return description === undefined ? choice : `${description} ${choice}`
}

function nameField({ properties }: Alternative, key: string): string {
  const values = properties.get(key)?.values
  return values?.length === 1 ? `${key}=${JSON.stringify(values[0])}` : key
}

function fingerprint(shape: Shape): string {
  return JSON.stringify(shape, (_key, value: unknown) =>
    value instanceof Map ? [...value] : value instanceof Set ? [...value].sort() : value,
  )
}
