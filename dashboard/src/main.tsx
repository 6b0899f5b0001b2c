import { render } from 'preact'
import { App } from './app.tsx'
import { learnAbout } from './state/about.ts'
import { listenToKeys } from './state/keys.ts'
import { listenToLinks } from './state/route.ts'
import { beginStream } from './state/stream.ts'

listenToLinks()
listenToKeys()
learnAbout()
beginStream()
render(<App />, document.getElementById('app')!)
