import { computed, signal } from '@preact/signals'

/** Where the page is: the address holds all of its state. */
export type Route = {
  readonly path: string
  readonly parts: readonly string[]
  readonly query: URLSearchParams
}

const address = signal(read())

/** The route of now. */
export const route = computed<Route>(() => {
  const { pathname, search } = new URL(address.value)
  return {
    path: pathname,
    parts: pathname.split('/').filter(Boolean).map(decodeURIComponent),
    query: new URLSearchParams(search),
  }
})

/** Goes to another address of this page; `replace` leaves no step for the back button. */
export function goTo(path: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', path)
  address.value = read()
}

/** New values of parts of the query; undefined and '' remove a part. */
type QueryChanges = { readonly [name: string]: string | undefined }

/** Changes parts of the query and keeps the rest. */
export function changeQuery(changes: QueryChanges, options?: { readonly replace: boolean }): void {
  const query = new URLSearchParams(route.peek().query)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(name)
    else query.set(name, value)
  }
  const text = query.toString()
  goTo(`${route.peek().path}${text === '' ? '' : `?${text}`}`, options)
}

/** The same without a step for the back button. */
export function replaceQuery(changes: QueryChanges): void {
  changeQuery(changes, { replace: true })
}

/** Lets links change the route instead of reloading the page. */
export function listenToLinks(): void {
  addEventListener('popstate', () => (address.value = read()))
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    const isPlain =
      event.button === 0 &&
      !event.defaultPrevented &&
      !event.metaKey &&
      !event.ctrlKey &&
      !event.shiftKey &&
      !event.altKey
    if (
      !link ||
      !isPlain ||
      link.origin !== location.origin ||
      link.hasAttribute('download') ||
      link.target !== '' ||
      !link.getAttribute('href')?.startsWith('/')
    )
      return
    event.preventDefault()
    goTo(link.pathname + link.search)
    scrollTo(0, 0)
  })
}

function read(): string {
  return location.href
}
