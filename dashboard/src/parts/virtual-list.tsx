import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

type Props = {
  readonly count: number
  /** Pixels; every row has the same. */
  readonly rowHeight: number
  /** Draws a row; it is asked only for rows that are near what can be seen. */
  render(index: number): ComponentChildren
  /** The name of the list for people who do not see it. */
  readonly label: string
  /** Stays at the end while rows arrive, until the user scrolls away. */
  readonly follow?: boolean
  /** Called when the user scrolls away from the end, or back to it. */
  onFollow?(follows: boolean): void
  /** Brings a row into sight each time another object is given; `top`: as the first one. */
  readonly jump?: { readonly index: number; readonly place?: 'top' } | undefined
  /** Called with the rows that are needed and the first visible one. */
  onRange?(first: number, last: number, top: number): void
  /** `rows` for rows of a table, whose cells have their own roles. */
  readonly kind?: 'list' | 'rows'
  readonly class?: string
}

const SPARE_ROWS = 8

/** A list of any length that draws only what is in sight. */
export function VirtualList({
  count,
  rowHeight,
  render,
  label,
  follow = false,
  onFollow,
  jump,
  onRange,
  kind = 'list',
  class: name = '',
}: Props) {
  const box = useRef<HTMLDivElement>(null)
  const [view, setView] = useState({ top: 0, height: 600 })
  const atEnd = useRef(true)

  useLayoutEffect(() => {
    const element = box.current!
    const measure = (): void =>
      setView((before) =>
        before.top === element.scrollTop && before.height === element.clientHeight
          ? before
          : { top: element.scrollTop, height: element.clientHeight },
      )
    const scrolled = (): void => {
      measure()
      const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - rowHeight
      if (isAtEnd !== atEnd.current) onFollow?.(isAtEnd)
      atEnd.current = isAtEnd
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    element.addEventListener('scroll', scrolled, { passive: true })
    measure()
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', scrolled)
    }
  }, [rowHeight])

  useLayoutEffect(() => {
    if (follow) box.current!.scrollTop = box.current!.scrollHeight
  }, [count, follow, view.height])
  useLayoutEffect(() => {
    if (!jump) return
    const element = box.current!
    const [top, bottom] = [jump.index * rowHeight, (jump.index + 1) * rowHeight]
    if (jump.place === 'top') element.scrollTop = top
    else if (top < element.scrollTop || bottom > element.scrollTop + element.clientHeight)
      element.scrollTop = top < element.scrollTop ? top : bottom - element.clientHeight
    setView({ top: element.scrollTop, height: element.clientHeight })
  }, [jump])

  const top = Math.max(0, Math.min(count - 1, Math.floor(view.top / rowHeight)))
  const first = Math.max(0, top - SPARE_ROWS)
  const last = Math.min(count - 1, Math.ceil((view.top + view.height) / rowHeight) + SPARE_ROWS)
  useEffect(() => void (count > 0 && onRange?.(first, last, top)), [top, last, count])

  const rows = []
  for (let index = first; index <= last; index += 1) {
    const place =
      kind === 'list'
        ? { role: 'listitem' as const, 'aria-setsize': count, 'aria-posinset': index + 1 }
        : { role: 'row' as const, 'aria-rowindex': index + 2 }
    rows.push(
      <div key={index} {...place} class="row" style={{ height: `${rowHeight}px` }}>
        {render(index)}
      </div>,
    )
  }
  return (
    <div
      ref={box}
      class={`virtual ${name}`}
      role={kind === 'list' ? 'list' : 'rowgroup'}
      aria-label={label}
      tabIndex={0}
    >
      <div role="presentation" style={{ height: `${count * rowHeight}px` }}>
        <div role="presentation" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {rows}
        </div>
      </div>
    </div>
  )
}
