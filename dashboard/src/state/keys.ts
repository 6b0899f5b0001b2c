import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

/** A key of a screen: what it is called in the list of keys, and what it does. */
export type Key = { readonly key: string; readonly label: string; run(event: KeyboardEvent): void }

/** Keys that work at this moment, the ones of the screen after those of the page. */
export const keys = signal<readonly (readonly Key[])[]>([])

/** Registers the keys of a screen while it is shown. They are ignored while the user types. */
export function useKeys(mine: readonly Key[]): void {
  const current = useRef(mine)
  current.current = mine
  useEffect(() => {
    // What is registered asks for the newest functions, so that a screen may make them anew each
    // time.
    const stable = mine.map(({ key, label }, index) => ({
      key,
      label,
      run: (event: KeyboardEvent) => current.current[index]?.run(event),
    }))
    keys.value = [...keys.peek(), stable]
    return () => void (keys.value = keys.peek().filter((one) => one !== stable))
  }, [mine.map(({ key }) => key).join(' ')])
}

/** Listens to the keyboard for the whole page. */
export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isTyping(event))
      return
    const found = keys
      .peek()
      .flat()
      .findLast(({ key }) => key === event.key)
    if (!found) return
    event.preventDefault()
    found.run(event)
  })
}

function isTyping({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.closest('dialog[open]')) return true
  const typed =
    target.isContentEditable ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && !['checkbox', 'radio', 'button'].includes(target.type))
  return typed && key !== 'Escape'
}
