import type { Io } from '../../contract/io.ts'
import type { Globals } from '../../surfaces/cli/argv/globals.ts'
import { wantsColor } from '../../surfaces/cli/output/color.ts'
import { hasUnicode } from '../../views/terminal/glyphs.ts'
import { createLook } from '../../views/terminal/look.ts'
import type { Look } from '../../views/terminal/look.ts'

/** The look of what is written to stderr. */
export function openLook({ env, stderr }: Io, { noColor }: Globals): Look {
  return createLook({
    color: wantsColor({ env, isTTY: stderr.isTTY, noColorFlag: noColor === true }),
    unicode: hasUnicode(env),
  })
}
