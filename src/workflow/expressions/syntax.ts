/** An expression that was understood. `at` counts characters from 0 in the text that it stands in. */
export type Expression =
  | {
      readonly kind: 'literal'
      readonly value: string | number | boolean | null
      readonly at: number
    }
  | PathExpression
  | { readonly kind: 'not'; readonly of: Expression; readonly at: number }
  | {
      readonly kind: 'and' | 'or'
      readonly left: Expression
      readonly right: Expression
      readonly at: number
    }
  | {
      readonly kind: 'compare'
      readonly operator: Comparison
      readonly left: Expression
      readonly right: Expression
      readonly at: number
    }

/** A name, and the keys that lead on from it: `steps.scan.result[0]`. */
export type PathExpression = {
  readonly kind: 'path'
  readonly root: string
  readonly keys: readonly (string | number)[]
  readonly at: number
}

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>='

/** A text with expressions in it, in their order. */
export type Template = readonly (string | Expression)[]

/** What an expression asks for: every path in it, in the order of the text. */
export function referencesOf(expression: Expression): readonly PathExpression[] {
  switch (expression.kind) {
    case 'literal':
      return []
    case 'path':
      return [expression]
    case 'not':
      return referencesOf(expression.of)
    default:
      return [...referencesOf(expression.left), ...referencesOf(expression.right)]
  }
}
