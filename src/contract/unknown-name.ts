import { closest } from './did-you-mean.ts'
import { shorten } from './shorten.ts'

/** Says that nothing of a kind has this name, and which was probably meant. */
export function unknownName(
  kind: string,
  name: string,
  names: readonly string[],
): { readonly message: string; readonly meant: string | undefined } {
  const meant = closest(name, names)
  return {
    message: `there is no ${kind} '${shorten(name, 100)}'${meant ? `; did you mean '${meant}'?` : ''}`,
    meant,
  }
}
