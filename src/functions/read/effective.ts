import type {
  Conversion,
  FunctionManifest,
  FunctionParameter,
  ObjectConversion,
} from '../manifest.ts'

type Named = { readonly [name: string]: Conversion }

/** The parameters without conversions that change nothing; the named ones only where they are needed. */
export function keepEffective(
  parameters: readonly FunctionParameter[],
  named: Named,
): Pick<FunctionManifest, 'parameters' | 'conversions'> {
  const changes = (
    convert: Conversion | undefined,
    seen: ReadonlySet<string> = new Set(),
  ): boolean => {
    if (!convert) return false
    if (convert.ref !== undefined)
      return !seen.has(convert.ref) && changes(named[convert.ref], new Set([...seen, convert.ref]))
    const { names, text, number, list, object } = convert
    return (
      names !== undefined ||
      text !== undefined ||
      number !== undefined ||
      (list !== undefined &&
        (list.to !== undefined ||
          changes(list.items, seen) ||
          (list.first ?? []).some((item) => changes(item ?? undefined, seen)))) ||
      (object !== undefined && objectChanges(object, seen))
    )
  }
  const objectChanges = (
    { to, fields = {}, values, variants = [] }: ObjectConversion,
    seen: ReadonlySet<string>,
  ): boolean =>
    to !== undefined ||
    Object.values(fields).some((field) => changes(field, seen)) ||
    changes(values, seen) ||
    variants.some((variant) => objectChanges(variant.convert, seen))
  const keep = <Part extends { readonly convert?: Conversion }>(part: Part): Part => {
    if (changes(part.convert)) return part
    const { convert: _nothing, ...rest } = part
    return rest as Part
  }
  const kept = parameters.map((parameter): FunctionParameter => {
    if (parameter.from === 'fields') return { ...parameter, fields: parameter.fields.map(keep) }
    return parameter.from === 'field' || parameter.from === 'rest' ? keep(parameter) : parameter
  })
  return { parameters: kept, ...(/"ref":/.test(JSON.stringify(kept)) && { conversions: named }) }
}
