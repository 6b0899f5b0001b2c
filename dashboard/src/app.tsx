import type { ComponentChildren } from 'preact'
import { route } from './state/route.ts'

const Nothing = ({ children }: { readonly children?: ComponentChildren }) => <main>{children}</main>

/** The whole page: the frame, and in it the screen of the route. */
export function App() {
  return <Nothing>{route.value.path}</Nothing>
}
