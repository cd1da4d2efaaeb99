/** The frame: navigation at the side, one page at a time; every page is a module of its own, loaded when it is opened. */
import { lazy, LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { useEffect, useRef } from 'preact/hooks';
import { Nav } from './parts/nav.tsx';
import { Toasts } from './parts/toasts.tsx';

const StartPage = lazy(async () => (await import('./pages/start/page.tsx')).StartPage);
const EditPage = lazy(async () => (await import('./pages/edit/page.tsx')).EditPage);
const PipelinesPage = lazy(async () => (await import('./pages/pipelines/page.tsx')).PipelinesPage);
const PipelinePage = lazy(async () => (await import('./pages/pipeline/page.tsx')).PipelinePage);
const ConnectionsPage = lazy(
  async () => (await import('./pages/connections/page.tsx')).ConnectionsPage,
);
const ChooseConnectorPage = lazy(
  async () => (await import('./pages/connections/choose-page.tsx')).ChooseConnectorPage,
);
const WizardPage = lazy(
  async () => (await import('./pages/connections/wizard-page.tsx')).WizardPage,
);
const StoredTablePage = lazy(
  async () => (await import('./pages/connections/table-page.tsx')).StoredTablePage,
);
const FunctionsPage = lazy(async () => (await import('./pages/functions/page.tsx')).FunctionsPage);

function NoPage() {
  return (
    <>
      <div class="page-head">
        <h1>There is no such page</h1>
      </div>
      <p>
        Everything there is can be reached from <a href="/pipelines">the pipelines</a>.
      </p>
    </>
  );
}

/** The part of an address that names the page; what follows names a part of it. */
const pageOf = (path: string): string => path.split('/').slice(0, 3).join('/');

/** Moves focus to the page when another is opened, so that a keyboard or screen reader starts there. */
function Page() {
  const path = pageOf(useLocation().path);
  const main = useRef<HTMLElement>(null);
  const before = useRef(path);
  useEffect(() => {
    if (before.current !== path) main.current?.focus({ preventScroll: true });
    before.current = path;
  }, [path]);
  return (
    <main class="page" id="page" tabIndex={-1} ref={main}>
      <Router>
        <Route path="/" component={StartPage} />
        <Route path="/pipelines" component={PipelinesPage} />
        <Route path="/pipelines/new" component={EditPage} />
        <Route path="/pipelines/:id/:tab?" component={PipelinePage} />
        <Route path="/connections" component={ConnectionsPage} />
        <Route path="/connections/new" component={ChooseConnectorPage} />
        <Route path="/connections/new/:connector" component={WizardPage} />
        <Route path="/connections/tables/:id" component={StoredTablePage} />
        <Route path="/functions" component={FunctionsPage} />
        <Route path="/functions/:id" component={FunctionsPage} />
        <Route default component={NoPage} />
      </Router>
    </main>
  );
}

export function App() {
  return (
    <LocationProvider>
      <a class="skip" href="#page">
        Skip to the page
      </a>
      <Nav />
      <Page />
      <Toasts />
    </LocationProvider>
  );
}
