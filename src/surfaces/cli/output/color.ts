import { styleText } from 'node:util'

export type ColorQuestion = {
  readonly env: { readonly [name: string]: string | undefined }
  readonly isTTY: boolean
  readonly noColorFlag: boolean
}

/** Whether to colour: `--no-color`, then a non-empty `NO_COLOR`, then `FORCE_COLOR` (0 and false mean off), then `TERM=dumb`, then the terminal decide. */
export function wantsColor({ env, isTTY, noColorFlag }: ColorQuestion): boolean {
  if (noColorFlag || env['NO_COLOR']) return false
  const force = env['FORCE_COLOR']
  if (force) return force !== '0' && force !== 'false'
  return isTTY && env['TERM'] !== 'dumb'
}

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Styles a text, or leaves it alone. */
export type Paint = (style: Style, text: string) => string

/** A painter that styles only when colour is wanted, whatever the streams of this process are. */
export function createPaint(color: boolean): Paint {
  return color
    ? (style, text) => (text === '' ? '' : styleText(style, text, { validateStream: false }))
    : (_style, text) => text
}
