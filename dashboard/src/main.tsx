import { render } from 'preact'
import { App } from './app.tsx'
import { listenToLinks } from './state/route.ts'

listenToLinks()
render(<App />, document.getElementById('app')!)
