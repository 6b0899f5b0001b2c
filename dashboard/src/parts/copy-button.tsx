import { useState } from 'preact/hooks'
import { announce } from '../state/announce.ts'

/** Puts a text, or what a function gives, on the clipboard, and says so. */
export function CopyButton({
  text,
  label = 'Copy',
  short = false,
  outlined = false,
}: {
  readonly text: string | (() => string)
  readonly label?: string
  /** Shows only `Copy`; the label is its name. */ readonly short?: boolean
  /** Looks like the buttons beside it. */ readonly outlined?: boolean
}) {
  const [said, setSaid] = useState<string>()
  const copy = async (): Promise<void> => {
    const done = await navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(
      () => true,
      () => false,
    )
    setSaid(done ? 'Copied' : 'Could not copy')
    announce(done ? 'Copied' : 'Could not copy')
    setTimeout(() => setSaid(undefined), 1500)
  }
  return (
    <button
      type="button"
      class={outlined ? '' : 'quiet'}
      aria-label={label}
      onClick={() => void copy()}
    >
      {said ?? (short ? 'Copy' : label)}
    </button>
  )
}
