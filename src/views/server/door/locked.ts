import { ToolError } from '../../../contract/tool-error.ts'
import type { HttpAnswer } from '../../../surfaces/http/exchange.ts'
import { refuse } from '../../../surfaces/http/refuse.ts'

const FIX = 'Open the address that toolable ui has printed: it carries the key'
const CHALLENGE = { 'www-authenticate': 'Bearer' } as const

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>toolable: locked</title></head>
<body>
<h1>This dashboard is locked</h1>
<p>Open the address that <code>toolable ui</code> has printed: it ends in <code>?token=…</code> and lets this browser in.</p>
<p>It is printed each time that <code>toolable ui</code> is started in the project.</p>
</body>
</html>
`

/** What a person sees who came without the token: where it is. No script, no style, nothing of the project. */
export function lockedPage(): HttpAnswer {
  return {
    status: 401,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      ...CHALLENGE,
    },
    body: PAGE,
  }
}

/** What a program gets that came without the token. */
export function lockedAnswer(): HttpAnswer {
  return refuse(
    new ToolError('PERMISSION', 'this dashboard wants its token', {
      recoverable: true,
      suggestion: {
        fix: `${FIX}; programs send it`,
        example: 'Authorization: Bearer <token>',
        applicability: 'has_placeholders',
      },
    }),
    { status: 401, headers: CHALLENGE, meta: { tool: 'dashboard' } },
  )
}
