"""scikit-learn estimators: SPC and the outlier detector."""
