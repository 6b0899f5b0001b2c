import type ts from 'typescript'
import { Unreadable } from './types/work.ts'
import type { Work } from './types/work.ts'

/** A parameter as a caller sees it. */
export type GivenParameter = {
  readonly name: string
  readonly declaration: ts.ParameterDeclaration | undefined
  readonly type: ts.Type
  readonly isOptional: boolean
  readonly isRest: boolean
}

/** The parameters of a signature. Those of a wrapped function, `(...args: Parameters<typeof wrapped>)`, stand for themselves. Throws Unreadable for a method that needs its object. */
export function listParameters(work: Work, signature: ts.Signature): readonly GivenParameter[] {
  const { ts, checker, at } = work
  refuseMethod(work, signature)
  const all = signature.getParameters().map((symbol): GivenParameter => {
    const declaration =
      symbol.valueDeclaration && ts.isParameter(symbol.valueDeclaration)
        ? symbol.valueDeclaration
        : undefined
    const isRest = declaration?.dotDotDotToken !== undefined
    const isOptional =
      isRest ||
      (declaration !== undefined &&
        (checker.isOptionalParameter(declaration) || declaration.initializer !== undefined)) ||
      (symbol.flags & ts.SymbolFlags.Optional) !== 0
    return {
      name: symbol.name,
      declaration,
      type: checker.getTypeOfSymbolAtLocation(symbol, declaration ?? at),
      isOptional,
      isRest,
    }
  })
  const last = all.at(-1)
  const inside =
    last?.isRest && checker.isTupleType(last.type)
      ? expand(work, last.type as ts.TupleTypeReference, all.length)
      : undefined
  return inside ? [...all.slice(0, -1), ...inside] : all
}

// Only where they are known by name, and none takes the rest. One that is taken apart has no name.
function expand(
  { ts, checker }: Work,
  type: ts.TupleTypeReference,
  place: number,
): readonly GivenParameter[] | undefined {
  const { labeledElementDeclarations: labels, elementFlags } = type.target
  const found = checker.getTypeArguments(type).map((item, index): GivenParameter | undefined => {
    const label = labels?.[index]
    const flags = elementFlags[index]!
    if (flags & ts.ElementFlags.Variable) return undefined
    const declaration = label && ts.isParameter(label) ? label : undefined
    return {
      name: label && ts.isIdentifier(label.name) ? label.name.text : `arg${place + index}`,
      declaration,
      type: item,
      isOptional: (flags & ts.ElementFlags.Optional) !== 0,
      isRest: false,
    }
  })
  return labels?.some((label) => label) && found.every((each) => each !== undefined)
    ? found
    : undefined
}

function refuseMethod({ ts, checker }: Work, { declaration }: ts.Signature): void {
  const [first] = declaration?.parameters ?? []
  if (!first || !ts.isIdentifier(first.name) || first.name.text !== 'this') return
  if (
    checker.getTypeAtLocation(first).flags &
    (ts.TypeFlags.Void | ts.TypeFlags.Undefined | ts.TypeFlags.Any | ts.TypeFlags.Unknown)
  )
    return
  throw new Unreadable(
    'this',
    "it is a method: it needs an object as 'this'",
    'Write a function that takes the object, or makes it',
  )
}
