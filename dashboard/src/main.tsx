import { render } from 'preact'
import { App } from './app.tsx'
import { learnAbout } from './state/about.ts'
import { listenToKeys } from './state/keys.ts'
import { listenToLinks } from './state/route.ts'
import { openStream } from './state/stream.ts'

listenToLinks()
listenToKeys()
learnAbout()
openStream()
render(<App />, document.getElementById('app')!)
