/** What a value says of itself: the text, or why there is none. */
export type OwnText = { readonly text: string } | { readonly warning: string }

/** What a value with a `render()` of its own wants a model to read; undefined for all others. Never throws. */
export function ownText(value: unknown): OwnText | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  try {
    const { render } = value as { readonly render?: unknown }
    if (typeof render !== 'function') return undefined
    const text: unknown = render.call(value)
    if (text instanceof Promise) text.catch(() => undefined)
    else if (text !== undefined && text !== null) return { text: String(text) }
    return {
      warning: `render() of the result gave ${text instanceof Promise ? 'a promise' : String(text)} where a text is expected; the result is shown as JSON`,
    }
  } catch {
    return { warning: 'render() of the result failed; the result is shown as JSON' }
  }
}

/** The data of such a value: JSON could not carry the function. */
export function withoutRender(value: unknown): unknown {
  if (
    typeof value !== 'object' ||
    value === null ||
    !Object.hasOwn(value, 'render') ||
    typeof (value as { readonly render: unknown }).render !== 'function' ||
    'toJSON' in value
  )
    return value
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== 'render'))
}
