/** Loads what the page needs before it is opened. */
import '../edit/page.tsx';

export { prepareEditor } from '../../parts/editor/editor.tsx';
