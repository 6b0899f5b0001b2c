import { useEffect, useRef, useState } from 'preact/hooks'
import { useKeys } from '../../state/keys.ts'
import { changeQuery } from '../../state/route.ts'
import { readTyped } from './filters.ts'

const TYPING = 200

/** Searches in what rows say; `tool:…`, `error:…`, `has:artifact` become filters with Enter. */
export function SearchBox({ text }: { readonly text: string }) {
  const [typed, setTyped] = useState(text)
  const box = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    if (document.activeElement !== box.current) setTyped(text)
  }, [text])
  useEffect(() => () => clearTimeout(timer.current), [])
  useKeys([{ key: '/', label: 'Search', run: () => box.current?.select() }])
  const type = (value: string): void => {
    setTyped(value)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => changeQuery({ text: value.trim() }, { replace: true }), TYPING)
  }
  const enter = (): void => {
    clearTimeout(timer.current)
    const { text: words, filters } = readTyped(typed)
    setTyped(words)
    changeQuery({ ...filters, text: words })
  }
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        enter()
      }}
    >
      <input
        ref={box}
        type="search"
        aria-label="Search runs"
        aria-keyshortcuts="/"
        placeholder="Search ( / ), or tool:… error:… has:artifact"
        value={typed}
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={(event) => event.key === 'Escape' && box.current?.blur()}
      />
    </form>
  )
}
