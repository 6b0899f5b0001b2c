import { ToolError } from '../../contract/tool-error.ts'
import { requireVisible } from './frames.ts'
import type { Frame } from './frames.ts'
import type { Ref } from './ref-type.ts'

const expressions = new WeakMap<object, { readonly expression: string; readonly owner: Frame }>()
const KEY = /^[A-Za-z_][\w-]*$/

/** A reference to what an expression will give; it may be used where `owner` is seen. */
export function makeRef<T>(expression: string, owner: Frame): Ref<T> {
  const text = (): string => {
    requireVisible(owner, expression)
    return `\${{ ${expression} }}`
  }
  const made = new Proxy(Object.create(null) as object, {
    get(_target, key) {
      if (key === Symbol.toPrimitive || key === 'toString' || key === 'toJSON') return text
      // What is awaited or looked at by tools is no field.
      if (typeof key === 'symbol' || key === 'then') return undefined
      return makeRef(`${expression}${access(key)}`, owner)
    },
    has: () => false,
    ownKeys: () => {
      throw new ToolError(
        'CONFIG',
        `'${expression}' cannot be taken apart: what is in it is known when the workflow runs`,
        { suggestion: 'Name its fields one by one; for a list use w.each(...)' },
      )
    },
    set: refuseChange,
    defineProperty: refuseChange,
    deleteProperty: refuseChange,
  })
  expressions.set(made, { expression, owner })
  return made as Ref<T>

  function refuseChange(): never {
    throw new ToolError('CONFIG', `'${expression}' cannot be changed: it is what a step gives`)
  }
}

/** The expression behind a reference; undefined for everything else. Throws CONFIG where it is used outside its scope. */
export function expressionOf(value: unknown): string | undefined {
  const known = typeof value === 'object' && value !== null ? expressions.get(value) : undefined
  if (known) requireVisible(known.owner, known.expression)
  return known?.expression
}

/** A text as it stands in an expression. */
export function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}

function access(key: string): string {
  return /^\d{1,9}$/.test(key) ? `[${key}]` : KEY.test(key) ? `.${key}` : `[${quoted(key)}]`
}
