"""All Streamlit beyond the pages: it draws what `certirag.render` built."""
