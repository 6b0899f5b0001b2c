import type { Paint } from '../color.ts'

/** How a person looks at the text. `columns` undefined: not a terminal, nothing is cut. */
export type TextLayout = { readonly columns: number | undefined; readonly paint: Paint }

/** The same layout inside an indentation. */
export function narrow(layout: TextLayout, by: number): TextLayout {
  return layout.columns === undefined
    ? layout
    : { ...layout, columns: Math.max(1, layout.columns - by) }
}
